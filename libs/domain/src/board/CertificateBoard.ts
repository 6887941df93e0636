/**
 * The certificates of a migration on the board: issues them, and shows what was certified. Sums and
 * roots are for managers, as `account:read` is needed for them elsewhere. A certificate of another
 * supplier is reported as unknown.
 * Source: docs/contract/board.md#certificates.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { type BoardUser, isOfSupplier } from "../access/BoardUser.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { certificateBody } from "../certificates/CertificateBody.ts"
import {
  CertificateId,
  type CertificateRecord,
  Certificates,
  type CertificateStep,
  type Signed
} from "../certificates/Certificates.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { Hashing } from "../requests/Hashing.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { traced } from "../support/Traced.ts"
import { acting, available } from "./Acting.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { cohortNamed, invalid } from "./Selection.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

type Answer<A> = Effect.Effect<A, Failure>

export interface Issuing {
  /** Chosen by the page, so that sending it again issues no second one. */
  readonly certificate_id: string
  /** Null for all accounts of the supplier. */
  readonly cohort: string | null
}

export interface CertificateQuery {
  readonly cohort?: string
  /** The id of a certificate, exclusive. */
  readonly before?: string
  readonly limit: number
}

const again =
  "Issue another one. If that fails too, give your operator the id of this certificate: the log has " +
  "the cause under it."

const failures: Readonly<Record<CertificateStep, string>> = {
  ACCOUNTS: "An account could not be read as it is stored.",
  DOCUMENTS: "The documents that the accounts name could not be read.",
  SIGNATURE: "The record could not be signed."
}

const body = (record: CertificateRecord, user: BoardUser) => {
  const { issuedBy, progress } = record
  return {
    ...certificateBody(record, user.role === "manager"),
    // The subject of a user may be a name.
    issued_by: isOfSupplier(user) ? { ...issuedBy, id: "" } : issuedBy,
    progress,
    failed: record.failure && { why: failures[record.failure], remedy: again }
  }
}

export class CertificateBoard extends Context.Service<
  CertificateBoard,
  {
    /** The newest first. */
    readonly list: (
      user: BoardUser,
      supplier: string,
      query: CertificateQuery
    ) => Answer<{
      readonly certificates: ReadonlyArray<ReturnType<typeof body>>
      readonly next_before: string | null
    }>
    readonly find: (
      user: BoardUser,
      supplier: string,
      id: string
    ) => Answer<ReturnType<typeof body>>
    /** The signed record of an issued certificate, with its SHA-256. */
    readonly signed: (
      user: BoardUser,
      supplier: string,
      id: string
    ) => Answer<Signed & { readonly sha256: string }>
    readonly issue: (
      caller: BoardCaller,
      supplier: string,
      command: Issuing
    ) => Answer<ReturnType<typeof body>>
  }
>()("@data-import/domain/CertificateBoard") {}

const certificateId = Schema.decodeUnknownOption(CertificateId)

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly certificates: Certificates["Service"]
  readonly configuration: Configuration["Service"]
  readonly hashing: Hashing["Service"]
}

/**
 * The id in a certificate, which is kept for ever and names no person. Some identity providers have
 * e-mail addresses as subjects.
 */
const issuerId = ({ hashing }: Dependencies, { subject }: BoardUser): string =>
  subject.includes("@") ? hashing.sha256(subject) : subject

const list = Effect.fnUntraced(function* (
  { certificates }: Dependencies,
  user: BoardUser,
  { code: supplier }: Supplier,
  { before: named, cohort, limit }: CertificateQuery
) {
  const before = named === undefined ? null : Option.getOrUndefined(certificateId(named))
  if (before === undefined) return { certificates: [], next_before: null }
  const page = { supplier, before, limit: limit + 1, ...(cohort !== undefined && { cohort }) }
  const found = yield* certificates.list(page)
  const shown = found.slice(0, limit)
  return {
    certificates: shown.map((record) => body(record, user)),
    next_before: found.length > limit ? (shown.at(-1)?.id ?? null) : null
  }
})

const find = Effect.fnUntraced(function* (
  { certificates }: Dependencies,
  { code, organisation }: Supplier,
  named: string
) {
  const id = certificateId(named)
  if (Option.isNone(id)) return yield* new NotFound()
  const found = yield* certificates.find(organisation, id.value)
  if (Option.isNone(found) || found.value.supplier !== code) return yield* new NotFound()
  return found.value
})

const wrongId = (detail: string) => invalid({ attr: "certificate_id", code: "invalid", detail })

const issue = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation }: Supplier,
  { certificate_id, cohort: named }: Issuing
) {
  const id = certificateId(certificate_id)
  if (Option.isNone(id)) return yield* wrongId("Must be a UUID.")
  const cohort = yield* cohortNamed(named)
  // Without keys there is nobody who issues.
  if ((yield* deps.certificates.keys).length === 0) return yield* unavailable
  const { role } = caller.user
  const record = yield* deps.certificates
    .request({
      id: id.value,
      supplier,
      cohort,
      issuer: { organisation, role, id: issuerId(deps, caller.user) },
      caller: callerFor(caller, organisation),
      at: yield* DateTime.now,
      recorder: null
    })
    .pipe(Effect.catchTag("ReservationLost", Effect.die))
  return record.supplier === supplier && record.cohort === cohort
    ? body(record, caller.user)
    : yield* wrongId("Names another certificate. Reload the page and try again.")
})

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    auditLog: yield* AuditLog,
    certificates: yield* Certificates,
    configuration: yield* Configuration,
    hashing: yield* Hashing
  }
  const on = acting(deps)
  const seen = (user: BoardUser, named: string) => visibleSupplier(deps.configuration, user, named)
  const found = (user: BoardUser, named: string, id: string) =>
    Effect.flatMap(seen(user, named), (supplier) => find(deps, supplier, id))

  return CertificateBoard.of({
    list: traced("CertificateBoard.list")((user, named, query) =>
      available(Effect.flatMap(seen(user, named), (supplier) => list(deps, user, supplier, query)))
    ),
    find: traced("CertificateBoard.find")((user, named, id) =>
      available(Effect.map(found(user, named, id), (record) => body(record, user)))
    ),
    signed: traced("CertificateBoard.signed")((user, named, id) =>
      available(
        Effect.flatMap(found(user, named, id), ({ issued }) =>
          issued === null
            ? Effect.fail(new NotFound())
            : Effect.succeed({ ...issued, sha256: deps.hashing.sha256(issued.jws) })
        )
      )
    ),
    issue: traced("CertificateBoard.issue")((caller, named, command) =>
      on(caller, named, "issue_certificate", (supplier) => issue(deps, caller, supplier, command))
    )
  })
})

/** Needs the storage ports and the hashing. */
export const layer = Layer.effect(CertificateBoard, make)
