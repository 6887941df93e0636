/**
 * Commands about certificates: issue one, list and show them, and verify one and an account in it.
 * Source: docs/contract/certificates.md.
 */
import { Console, Effect, Option, Schedule } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { announce, line, say } from "@data-import/terminal/Answer"
import { asCertificateId, pageSize } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { readCertificate } from "../certify/SignedCertificate.ts"
import { connection, onService, onServicePatiently } from "../connection/Connection.ts"
import { jsonValue } from "../reconcile/ReconcileAnswer.ts"
import {
  accountsOf,
  certificatesText,
  certificateText,
  contentLines,
  issuerLine,
  unclosedStates
} from "./CertificateText.ts"
import { proof } from "./ProofCommand.ts"
import { supplier } from "../ImportArguments.ts"

const id = Argument.String("certificate-id").pipe(
  Argument.withDescription("The id of the certificate, as certificate list prints it"),
  asCertificateId
)

const keysPath = "/.well-known/certificate-keys.json"

/** Follows the certificate until it has ended. */
const whenEnded = (certificate_id: string) =>
  Effect.gen(function* () {
    const { certificates } = yield* DataImport
    return yield* certificates.getCertificate({ params: { certificate_id } }).pipe(
      Effect.repeat({
        while: ({ status }) => status === "RUNNING",
        schedule: Schedule.spaced("2 seconds")
      })
    )
  })

const issue = Command.make(
  "issue",
  {
    supplier,
    cohort: Flag.String("cohort").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Certify only the accounts of this cohort"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ cohort, supplier }) {
    const { certificates } = yield* DataImport
    const payload = {
      import_supplier: supplier,
      ...(Option.isSome(cohort) && { cohort: cohort.value })
    }
    const { certificate_id } = yield* certificates.issueCertificate({ payload: { payload } })
    const record = yield* whenEnded(certificate_id)
    if (record.status !== "ISSUED") {
      const why = `The certificate ${certificate_id} could not be computed. Issue another one.`
      return yield* new Refused({ why })
    }
    const { baseUrl } = yield* connection
    const next = [
      "To compare your book with it:",
      `  data-import certificate show ${certificate_id} --jose > certificate.jws`,
      `  curl -o keys.json ${baseUrl}${keysPath}`,
      `  data-import certify BOOK --supplier ${record.import_supplier} --against certificate.jws --keys keys.json`
    ]
    yield* say(jsonValue(record), [certificateText(record), next.join("\n")].join("\n\n"))
  }, onServicePatiently)
).pipe(
  Command.withDescription(
    "Issue a certificate of all accounts of a supplier, or of a cohort of it, and wait for it. The " +
      "API key needs import:write and account:read, and import:read to wait."
  ),
  Command.withExamples([
    { command: "data-import certificate issue ACME_LEGACY", description: "Certify everything" },
    {
      command: "data-import certificate issue ACME_LEGACY --cohort wave-3",
      description: "Certify a cohort"
    }
  ])
)

const list = Command.make(
  "list",
  {
    supplier,
    limit: pageSize,
    before: Flag.String("before").pipe(
      Flag.withDescription("Only certificates that are older than this one"),
      asCertificateId,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ before, limit, supplier }) {
    const { certificates } = yield* DataImport
    const query = {
      import_supplier: supplier,
      limit,
      ...(Option.isSome(before) && { before: before.value })
    }
    const { headers, value } = yield* certificates.listCertificates.withResponse({ query })
    const hasMore = headers["link"] !== undefined
    yield* say(jsonValue(value), certificatesText(value, hasMore))
  }, onService)
).pipe(
  Command.withDescription("List the certificates of a supplier, the newest first"),
  Command.withExamples([
    { command: "data-import certificate list ACME_LEGACY", description: "List the newest 100" }
  ])
)

const show = Command.make(
  "show",
  {
    id,
    jose: Flag.Boolean("jose").pipe(
      Flag.withDescription("Print the signed record (JWS) alone"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ id, jose }) {
    const { certificates } = yield* DataImport
    const record = yield* certificates.getCertificate({ params: { certificate_id: id } })
    if (!jose) return yield* say(jsonValue(record), certificateText(record))
    const { jws, status } = record
    if (typeof jws === "string") {
      yield* announce(`The certificate ${id}`)
      return yield* Console.log(jws)
    }
    const reason =
      status === "ISSUED" ? "the API key does not have account:read" : `it is ${status}`
    return yield* new Refused({ why: `The record of ${id} cannot be shown: ${reason}.` })
  }, onService)
).pipe(
  Command.withDescription("Show a certificate, or print its signed record"),
  Command.withExamples([
    {
      command: "data-import certificate show 0b5a4f6e-3c1d-4e0a-9f53-6a1f0c2d7e88 --jose",
      description: "Print the signed record, for a file"
    }
  ])
)

const verify = Command.make(
  "verify",
  {
    file: Argument.String("file").pipe(
      Argument.withMetavar("FILE"),
      Argument.withDescription("The signed record (JWS)")
    ),
    keys: Flag.String("keys").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The published keys (JWKS)")
    )
  },
  Effect.fnUntraced(function* ({ file, keys }) {
    const { certificate, kid } = yield* readCertificate(file, keys)
    const proved =
      `${file} is signed with the key ${kid}, and unchanged: a certificate of ` +
      `${accountsOf(certificate)}.`
    yield* say(
      { file, kid, certificate: jsonValue(certificate) },
      [
        proved,
        line("certificate_id", certificate.certificate_id),
        issuerLine(certificate.issued_by),
        ...contentLines(certificate),
        ...unclosedStates(certificate)
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Verify the signature of a certificate offline, and show what it states. Exits with 2 if it is " +
      "not valid."
  ),
  Command.withExamples([
    {
      command: "data-import certificate verify certificate.jws --keys keys.json",
      description: "Verify a record with the keys that the service publishes"
    }
  ])
)

export const certificate = Command.make("certificate").pipe(
  Command.withDescription("Signed certificates of what was migrated"),
  Command.withSubcommands([issue, list, show, proof, verify])
)
