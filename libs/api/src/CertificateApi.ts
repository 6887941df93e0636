/**
 * Certificates of what was migrated: issue and read them, prove that an account is in one, and
 * compare a book with one.
 * Source: docs/contract/certificates.md.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { listElements } from "@data-import/domain/schema/Json"
import { requires } from "./Authorization.ts"
import {
  CertificateKeysBody,
  CertificateRecordBody,
  CertificateRequestBody,
  ProofBody,
  TreeNodeBody
} from "./CertificateBody.ts"
import * as Examples from "./CertificateExamples.ts"
import { anyBody, anyKeyed, anyProtected, anywhere, errorBodies } from "./ErrorBody.ts"
import {
  accepted,
  AlsoAnswers,
  created,
  KeyRefusal,
  operation,
  type ParameterDocs
} from "./Operation.ts"
import { IgnoresParameters, plainText, wholeNumber } from "./Parameter.ts"
import { number, supplier } from "./PathParameter.ts"

const root = "/v1/data-import/certificates/"

/** The media type of the signed record alone. */
export const joseType = "application/jose"

const id = { certificate_id: Schema.String }

const idParameter: ParameterDocs = {
  description: "The certificate. One that is unknown or not the caller's is a 404.",
  schema: { type: "string" },
  example: Examples.certificateParameter
}

/** The default page size of certificates. */
export const defaultCertificates = 100

/** The default page size of nodes, and the largest. */
export const defaultNodes = 256
const mostNodes = 1_000

/** Above every tree. */
const highestLevel = 40
const highestIndex = 1_000_000_000

const errors = errorBodies(["request_failed_validation", "not_found", ...anyProtected])

const location = { Location: "The address of the certificate." }

const issueCertificate = HttpApiEndpoint.post("issueCertificate", root, {
  payload: CertificateRequestBody,
  success: [created(CertificateRecordBody), accepted(CertificateRecordBody)],
  error: errorBodies([
    "request_failed_validation",
    "certificate_limit_exceeded",
    ...anyKeyed,
    ...anyBody,
    ...anyProtected
  ])
})
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Issue a certificate",
      "Certifies all imported accounts of a supplier, or of a cohort of it, as they are at one " +
        "instant. It is a 202 if that takes more than 15 seconds: read the certificate until its " +
        "status changes. Also needs the scope `account:read`, since the answer has balances. The " +
        "same Idempotency-Key answers the same certificate, as it is then.",
      {
        requests: { whole: { summary: "A whole supplier", value: Examples.certificateRequest } },
        headers: { 201: location, 202: location },
        answers: {
          201: { issued: { summary: "It is issued", value: Examples.issuedCertificate } },
          202: { running: { summary: "It is computed", value: Examples.runningCertificate } }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const listCertificates = HttpApiEndpoint.get("listCertificates", root, {
  query: Schema.Struct({
    import_supplier: plainText,
    limit: Schema.optionalKey(wholeNumber(1, listElements)),
    before: Schema.optionalKey(plainText)
  }),
  success: Schema.Array(CertificateRecordBody).annotate({
    description: "One page, the newest certificate first."
  }),
  error: errors
})
  .annotateMerge(
    operation("List certificates", "The certificates of a supplier, the newest first.", {
      parameters: {
        import_supplier: supplier,
        limit: {
          description: "The most certificates to answer.",
          schema: {
            type: "integer",
            minimum: 1,
            maximum: listElements,
            default: defaultCertificates
          },
          example: 20
        },
        before: {
          description: "Only certificates older than this certificate_id.",
          schema: { type: "string" },
          example: Examples.certificateParameter
        }
      },
      headers: {
        200: {
          Link: 'Where `limit` cut the list: `<…>; rel="next"`, the address of the next page.'
        }
      },
      answers: {
        200: {
          one: { summary: "Without `account:read`", value: [Examples.certificateWithoutBalances] }
        }
      }
    })
  )
  .pipe(requires("import:read"))

const getCertificate = HttpApiEndpoint.get("getCertificate", `${root}:certificate_id/`, {
  params: id,
  success: CertificateRecordBody,
  error: errors
})
  .annotate(AlsoAnswers, { [joseType]: Examples.jws })
  .annotateMerge(
    operation(
      "Get a certificate",
      "With `Accept: application/jose` it is the signed record alone, once it is issued. That and " +
        "everything with balances need the scope `account:read` too.",
      {
        parameters: { certificate_id: idParameter },
        answers: {
          200: {
            issued: { summary: "With `account:read`", value: Examples.issuedCertificate },
            counts: {
              summary: "Without `account:read`",
              value: Examples.certificateWithoutBalances
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))

const getCertificateProof = HttpApiEndpoint.get(
  "getCertificateProof",
  `${root}:certificate_id/proofs/:external_account_number/`,
  {
    params: { ...id, external_account_number: Schema.String },
    success: ProofBody,
    error: errors
  }
)
  .annotateMerge(
    operation(
      "Prove an account",
      "Proves that an account is among the certified ones, with what is certified of it. An account " +
        "that is not, or that was erased since, is a 404. Reads are in the audit log.",
      {
        parameters: { certificate_id: idParameter, external_account_number: number },
        answers: { 200: { proof: { summary: "An account", value: Examples.proof } } }
      }
    )
  )
  .pipe(requires("account:read"))

const listCertificateHashes = HttpApiEndpoint.get(
  "listCertificateHashes",
  `${root}:certificate_id/hashes/`,
  {
    params: id,
    query: Schema.Struct({
      level: Schema.optionalKey(wholeNumber(0, highestLevel)),
      from: Schema.optionalKey(wholeNumber(0, highestIndex)),
      limit: Schema.optionalKey(wholeNumber(1, mostNodes))
    }),
    success: Schema.Array(TreeNodeBody).annotate({ description: "Nodes in their order." }),
    error: errors
  }
)
  .annotateMerge(
    operation(
      "List hashes",
      "Nodes of one level of the tree. Level 0 has the accounts, and a node of level n is over at " +
        "most 2^n of them. By comparing hashes from a high level down, a book finds the accounts " +
        "that differ. Reads are in the audit log.",
      {
        parameters: {
          certificate_id: idParameter,
          level: {
            description: "The level.",
            schema: { type: "integer", minimum: 0, maximum: highestLevel, default: 0 },
            example: 8
          },
          from: {
            description: "The index of the first node.",
            schema: { type: "integer", minimum: 0, maximum: highestIndex, default: 0 },
            example: 0
          },
          limit: {
            description: "The most nodes to answer.",
            schema: { type: "integer", minimum: 1, maximum: mostNodes, default: defaultNodes },
            example: defaultNodes
          }
        },
        answers: { 200: { one: { summary: "A small tree", value: Examples.nodes } } }
      }
    )
  )
  .pipe(requires("account:read"))

const getCertificateKeys = HttpApiEndpoint.get(
  "getCertificateKeys",
  "/.well-known/certificate-keys.json",
  { success: CertificateKeysBody, error: errorBodies([...anywhere]) }
)
  .annotate(IgnoresParameters, true)
  .annotateMerge(
    operation(
      "Keys of certificates",
      "The public keys that certificates are verified with, past ones included. No token is signed " +
        "with them. Needs no token. Query parameters are ignored.",
      { answers: { 200: { keys: { summary: "One key", value: Examples.certificateKeys } } } }
    )
  )

/** What the batches service serves besides batches. */
export const CertificateGroup = HttpApiGroup.make("certificates", { topLevel: true })
  .add(
    issueCertificate,
    listCertificates,
    getCertificate,
    getCertificateProof,
    listCertificateHashes,
    getCertificateKeys
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Certificates",
      description: "Signed proofs of what was migrated, which anybody can verify."
    })
  )
