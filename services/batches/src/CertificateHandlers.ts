/** Certificates over HTTP: each handler calls one program and wraps its answer. */
import { Duration, Effect, Option } from "effect"
import {
  CertificateGroup,
  defaultCertificates,
  defaultNodes,
  joseType
} from "@data-import/api/CertificateApi"
import type { CertificateRecordBody, ProofBody } from "@data-import/api/CertificateBody"
import { certificateBody } from "@data-import/domain/certificates/CertificateBody"
import { CertificateQuery } from "@data-import/domain/certificates/CertificateQuery"
import type { CertificateRecord } from "@data-import/domain/certificates/Certificates"
import type { Proof } from "@data-import/domain/certificates/CertificateTrees"
import { NotFound, PermissionDenied } from "@data-import/domain/requests/Failure"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { prefers } from "@data-import/server/http/Accept"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { Writing, writing } from "@data-import/server/routing/IdempotencyHeader"
import { certificateOf, numberOf } from "@data-import/server/routing/PathNames"
import * as Route from "@data-import/server/routing/Route"

type Query = CertificateQuery["Service"]
type Body = typeof CertificateRecordBody.Type
type Asking = Call & { readonly caller: Caller }

const root = "/v1/data-import/certificates/"

const mayReadBalances = ({ scopes }: Pick<Caller, "scopes">): boolean =>
  scopes.includes("account:read")

const bodyOf = (record: CertificateRecord, caller: Pick<Caller, "scopes">): Body =>
  certificateBody(record, mayReadBalances(caller))

const located = (id: string) => ({ location: `${root}${id}/` })

/** The answer to a request while the certificate is computed; it is kept for a repeat. */
const requested = (record: CertificateRecord, { caller }: Pick<Asking, "caller">) =>
  Answer.small(202, bodyOf(record, caller), located(record.id))

/** How long an answer waits for the end. */
const patience = Duration.seconds(15)

/**
 * Waits for the end of a certificate that was requested now or before. The kept answer stands if
 * too many requests wait. A wait may be interrupted, the request before it not.
 */
const whenEnded = (query: Query, { caller, wait }: Pick<Asking, "caller" | "wait">) =>
  Effect.fnUntraced(function* (kept: Effect.Success<Answer.Answered>) {
    const id = kept.headers["location"]?.slice(root.length, -1) ?? ""
    const ended = yield* Effect.interruptible(
      wait(caller.organisation, query.ended(caller, id, patience))
    )
    if (Option.isNone(ended)) return kept
    const body = bodyOf(ended.value, caller)
    const replayed = kept.headers["idempotency-replayed"]
    const headers = { ...located(id), ...(replayed && { "idempotency-replayed": replayed }) }
    return Answer.json(ended.value.status === "ISSUED" ? 201 : 202, body, headers)
  })

/** Source: docs/contract/certificates.md#issuing. */
const issueCertificate = (query: Query) =>
  Effect.map(writing, (write) => {
    const request = write(
      ({ body, caller, recorder, parameters }) =>
        query.request(caller, body, recorder, Route.parameterErrors(parameters)),
      requested
    )
    return new Writing<201 | 202, Body>((call, body, code) =>
      Effect.flatMap(request.answer(call, body, code), whenEnded(query, call))
    )
  })

interface ListParameters {
  readonly import_supplier: string
  readonly limit?: number
  readonly before?: string
}

const listCertificates =
  (query: Query) =>
  ({ caller, parameters, request }: Asking & { readonly parameters: ListParameters }) =>
    Effect.gen(function* () {
      const { before = null, import_supplier, limit = defaultCertificates } = parameters
      const found = yield* query.list(caller, import_supplier, { before, limit: limit + 1 })
      const page = found.slice(0, limit)
      const next = { import_supplier, limit: String(limit), before: page.at(-1)?.id ?? "" }
      return yield* Answer.page(
        page,
        (record) => bodyOf(record, caller),
        found.length > limit ? Answer.nextPage(request.url, next) : {}
      )
    })

const getCertificate = (query: Query) => (call: Asking) =>
  Effect.gen(function* () {
    const { caller, request } = call
    const record = yield* query.find(caller, certificateOf(call))
    if (!prefers(joseType, request.headers["accept"])) {
      return Answer.json(200, bodyOf(record, caller), { vary: "accept" })
    }
    if (!mayReadBalances(caller)) return yield* new PermissionDenied()
    if (record.issued === null) return yield* new NotFound()
    return Answer.text(joseType, record.issued.jws)
  })

const proofBody = ({ entry, leaf_index, path }: Proof): typeof ProofBody.Type => ({
  leaf_index,
  entry: JSON.parse(entry) as (typeof ProofBody.Type)["entry"],
  path
})

/** Keys are never withdrawn, so a cache may only lack a new one. */
const keyHeaders = { "cache-control": "public, max-age=30" }

export const routes = Effect.gen(function* () {
  const query = yield* CertificateQuery
  return Route.handle(CertificateGroup, {
    issueCertificate: yield* issueCertificate(query),
    listCertificates: listCertificates(query),
    getCertificate: getCertificate(query),
    getCertificateProof: (call) =>
      Effect.map(query.proof(call.caller, certificateOf(call), numberOf(call)), (proof) =>
        Answer.json(200, proofBody(proof))
      ),
    listCertificateHashes: (call) => {
      const { from = 0, level = 0, limit = defaultNodes } = call.parameters
      const found = query.hashes(call.caller, certificateOf(call), { from, level, limit })
      return Effect.map(found, (nodes) => Answer.json(200, nodes))
    },
    getCertificateKeys: () =>
      Effect.map(query.keys, (keys) => {
        const ofEd25519 = { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" }
        return Answer.json(
          200,
          { keys: keys.map(({ kid, x }) => ({ ...ofEd25519, kid, x })) },
          keyHeaders
        )
      })
  })
})
