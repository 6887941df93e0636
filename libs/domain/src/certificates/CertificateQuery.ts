/**
 * Requests certificates, and answers what was certified: the certificate, proofs of single
 * accounts, and hashes of the tree by which a book is compared with it.
 * Source: docs/contract/certificates.md.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { ExternalAccountNumber, SupplierCodeField } from "../accounts/Account.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { ShortName } from "../batches/Batch.ts"
import * as DocumentLookup from "../documents/DocumentLookup.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import {
  documentsUnavailable,
  type Failure,
  keyInUse,
  NotFound,
  PermissionDenied,
  unavailable
} from "../requests/Failure.ts"
import {
  makeRequestValidator,
  payloadOf,
  type RequestValidator
} from "../requests/RequestValidation.ts"
import { Hashing } from "../requests/Hashing.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { supplierExists } from "../schema/Rules.ts"
import { validator } from "../schema/Validator.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { traced } from "../support/Traced.ts"
import {
  CertificateId,
  type CertificateKey,
  type CertificateRecord,
  Certificates
} from "./Certificates.ts"
import { type NodeRange, nodesOf, type Proof, proofOf, type TreeNode } from "./CertificateTrees.ts"

export const CertificatePayload = Schema.Struct({
  import_supplier: SupplierCodeField,
  cohort: Schema.optionalKey(ShortName)
})

export const certificateRequest = validator({
  schema: Schema.Struct({ payload: CertificatePayload }),
  rules: { rules: [supplierExists] },
  wrapper: "payload"
})

/** An unknown certificate, or one of another organisation, is always `NotFound`. */
export class CertificateQuery extends Context.Service<
  CertificateQuery,
  {
    /** Needs `account:read` too, since a certificate has balances. */
    readonly request: (
      caller: Caller,
      body: unknown,
      recorder: ResponseRecorder<CertificateRecord> | null,
      parameterErrors: ReadonlyArray<FieldError>
    ) => Effect.Effect<CertificateRecord, Failure>
    /** The certificate when it has ended, or as it is after this time. */
    readonly ended: (
      caller: Caller,
      id: string,
      within: Duration.Duration
    ) => Effect.Effect<CertificateRecord, Failure>
    readonly find: (caller: Caller, id: string) => Effect.Effect<CertificateRecord, Failure>
    /** Newest first; `before` is exclusive, and unknown text gives an empty list. */
    readonly list: (
      caller: Caller,
      supplier: string,
      page: { readonly before: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<CertificateRecord>, Failure>
    readonly proof: (caller: Caller, id: string, number: string) => Effect.Effect<Proof, Failure>
    readonly hashes: (
      caller: Caller,
      id: string,
      range: NodeRange
    ) => Effect.Effect<ReadonlyArray<TreeNode>, Failure>
    readonly keys: Effect.Effect<ReadonlyArray<CertificateKey>, Failure>
  }
>()("@data-import/domain/CertificateQuery") {}

const certificateId = Schema.decodeUnknownOption(CertificateId)
const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)
const accountNumber = Schema.decodeUnknownOption(ExternalAccountNumber)

/** How often a waiting request looks for the end. */
const lookEvery = Duration.millis(250)

const orFailure = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
  Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly certificates: Certificates["Service"]
  readonly configuration: Configuration["Service"]
  readonly hashing: Hashing["Service"]
  readonly requestValidator: RequestValidator
}

const request = Effect.fnUntraced(function* (
  { certificates, requestValidator }: Dependencies,
  caller: Caller,
  body: unknown,
  recorder: ResponseRecorder<CertificateRecord> | null,
  parameterErrors: ReadonlyArray<FieldError>
) {
  if (!caller.scopes.includes("account:read")) return yield* new PermissionDenied()
  const valid = yield* requestValidator.validate({
    validator: certificateRequest,
    caller,
    body,
    payload: payloadOf(body),
    code: "request_failed_validation",
    parameterErrors
  })
  // Without keys there is nobody who issues.
  if ((yield* certificates.keys).length === 0) return yield* unavailable
  const { apiKey, organisation } = caller
  return yield* certificates.request({
    id: CertificateId.make(crypto.randomUUID()),
    supplier: valid.supplier.code,
    cohort: valid.body.payload.cohort ?? null,
    issuer: { organisation, role: "client", id: apiKey },
    caller,
    at: valid.now,
    recorder
  })
})

const find = Effect.fnUntraced(function* (
  { certificates }: Dependencies,
  caller: Caller,
  named: string
) {
  const id = certificateId(named)
  if (Option.isNone(id)) return yield* new NotFound()
  const found = yield* certificates.find(caller.organisation, id.value)
  return Option.isSome(found) ? found.value : yield* new NotFound()
})

const ended = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  id: string,
  within: Duration.Duration
) {
  for (let waited = Duration.zero; ; waited = Duration.sum(waited, lookEvery)) {
    const record = yield* find(deps, caller, id)
    const isOver = Duration.isGreaterThanOrEqualTo(waited, within)
    if (record.status !== "RUNNING" || isOver) return record
    yield* Effect.sleep(lookEvery)
  }
})

const list = Effect.fnUntraced(function* (
  { certificates, configuration }: Dependencies,
  caller: Caller,
  named: string,
  { before, limit }: { readonly before: string | null; readonly limit: number }
) {
  const supplier = yield* findOwnSupplier(configuration)(caller, supplierCode(named))
  if (Option.isNone(supplier)) return yield* new NotFound()
  const from = before === null ? null : Option.getOrUndefined(certificateId(before))
  if (from === undefined) return []
  return yield* certificates.list({ supplier: supplier.value.code, before: from, limit })
})

/** An issued certificate. The read is recorded before anything of the tree is answered. */
const read = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  number: ExternalAccountNumber | null
) {
  const { id, issued, supplier } = yield* find(deps, caller, named)
  if (issued === null) return yield* new NotFound()
  const key = { import_supplier: supplier, external_account_number: number }
  const at = yield* DateTime.now
  yield* deps.auditLog.recordRead({ key, action: "read_certificate", caller, at })
  return { id, size: issued.content.tree_size }
})

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const deps: Dependencies = {
    auditLog,
    certificates: yield* Certificates,
    configuration,
    hashing: yield* Hashing,
    requestValidator: makeRequestValidator(configuration, yield* DocumentLookup.DocumentLookup)
  }

  const proof = Effect.fnUntraced(function* (caller: Caller, id: string, named: string) {
    const number = accountNumber(named)
    if (Option.isNone(number)) return yield* new NotFound()
    const certificate = yield* read(deps, caller, id, number.value)
    return yield* proofOf(deps, certificate.id, certificate.size, number.value)
  })

  const hashes = Effect.fnUntraced(function* (caller: Caller, named: string, range: NodeRange) {
    const { id, size } = yield* read(deps, caller, named, null)
    return yield* nodesOf(deps, id, size, range)
  })

  return CertificateQuery.of({
    request: traced("CertificateQuery.request")((caller, body, recorder, parameterErrors) =>
      request(deps, caller, body, recorder, parameterErrors).pipe(
        Effect.catchTags({
          DocumentsUnavailable: () => documentsUnavailable,
          ReservationLost: () => keyInUse
        }),
        recordRefusals({ auditLog, configuration }, "issue_certificate", caller, payloadOf(body)),
        orFailure
      )
    ),
    ended: (caller, id, within) => orFailure(ended(deps, caller, id, within)),
    find: (caller, id) => orFailure(find(deps, caller, id)),
    list: (caller, supplier, page) => orFailure(list(deps, caller, supplier, page)),
    proof: (caller, id, number) => orFailure(proof(caller, id, number)),
    hashes: (caller, id, range) => orFailure(hashes(caller, id, range)),
    keys: orFailure(deps.certificates.keys)
  })
})

export const layer = Layer.effect(CertificateQuery, make).pipe(Layer.provide(DocumentLookup.layer))
