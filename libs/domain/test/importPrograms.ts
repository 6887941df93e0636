/**
 * A small migration in memory, for tests of the programs: two organisations with their suppliers, a
 * team, the documents of the sample, and the programs on ports with injectable faults.
 */
import { ConfigProvider, DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Documents, DocumentsUnavailable } from "../src/documents/Documents.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { ImportRevert, layer as importRevertLayer } from "../src/imports/ImportRevert.ts"
import { Reverts } from "../src/imports/Reverts.ts"
import { layerMemory as documents } from "../testing/memory/Documents.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as hashing } from "../testing/memory/Hashing.ts"
import { layerMemory as idempotencyKeys } from "../testing/memory/IdempotencyKeys.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as reverts } from "../testing/memory/Reverts.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ExternalAccountNumber } from "../src/accounts/Account.ts"
import { AccountImport, layer as accountImport } from "../src/imports/AccountImport.ts"
import {
  IdempotentWrites,
  layer as idempotentWritesLayer
} from "../src/idempotency/IdempotentWrites.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import { type Supplier, SupplierCode } from "../src/suppliers/Supplier.ts"
import { type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { callerOf, supplierOf } from "../testing/freshNames.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { putAll, type Wire } from "../testing/wire.ts"

const sample = domesticPayload()

const namedDocuments = [
  ...sample.notes.flatMap((note) => note.document_paths ?? []).map((each) => each.document_path),
  ...sample.statements.map((statement) => statement.statement_path)
]

/** The ports over one empty store, and the store itself. */
export const ports = Layer.mergeAll(
  importProcesses,
  reverts,
  auditLog,
  idempotencyKeys,
  configuration,
  documents(new Map(namedDocuments.map((path) => [`DEMO_ENERGY/${path}`, 1_000]))),
  MemoryStore.layer
)

export const demo = callerOf(OrganisationName.make("demo"))
export const rival = callerOf(OrganisationName.make("rival"))
export const team = "Migration Team"

export const supplierCode = SupplierCode.make(sample.import_supplier)
export const rivalCode = SupplierCode.make("RIVAL_ENERGY")

export const keyOf = (number: string): ImportKey => ({
  import_supplier: supplierCode,
  external_account_number: ExternalAccountNumber.make(number)
})

/** The import of the sample. */
export const key = keyOf(sample.external_account_number)

/**
 * The body of validate and stage for the sample, with every path of the payload set to its value.
 */
export const stageBody = (values: Wire = {}): Wire => ({ payload: putAll(sample, values) })

/** The body of process for the sample. */
export const processBody = (values: Wire = {}): Wire => ({
  payload: { ...key, operations_team_name: team, ...values }
})

/** Sets the clock and the operator's configuration; `demoSupplier` alters the sample's supplier. */
export const begin = Effect.fnUntraced(function* (demoSupplier: Partial<Supplier> = {}) {
  yield* TestClock.setTime(DateTime.toEpochMillis(sampleTime))
  const configuration = yield* Configuration
  for (const { organisation } of [demo, rival]) {
    yield* configuration.createOrganisation(organisation, sampleTime)
  }
  const supplier = {
    ...supplierOf(demo.organisation),
    code: supplierCode,
    documentRoot: supplierCode,
    ...demoSupplier
  }
  yield* configuration.createSupplier(supplier)
  const ofRival = { ...supplierOf(rival.organisation), code: rivalCode }
  yield* configuration.createSupplier(ofRival)
  yield* configuration.createTeam(team)
})

type Settings = { readonly LEASE?: string; readonly CONCURRENCY_LIMIT?: string }

/** The program of account imports, on ports with the faults of the plan. */
export const programs = Effect.fnUntraced(function* (
  plan: FaultPlan = noFaults(),
  settings: Settings = {}
) {
  const processes = withFaults(ImportProcesses, yield* ImportProcesses, plan)
  const configuration = withFaults(Configuration, yield* Configuration, plan)
  const past = withFaults(AuditLog, yield* AuditLog, plan)
  const away = () => new DocumentsUnavailable({})
  const files = withFaults(Documents, yield* Documents, plan, away)
  const layer = accountImport.pipe(
    Layer.provide(Layer.succeed(ImportProcesses, processes)),
    Layer.provide(Layer.succeed(Configuration, configuration)),
    Layer.provide(Layer.succeed(AuditLog, past)),
    Layer.provide([Layer.succeed(Documents, files), hashing]),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
  )
  return yield* Effect.provide(AccountImport, layer)
})

/** The program of reverts, on ports with the faults of the plan. */
export const importRevert = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const layer = importRevertLayer.pipe(
    Layer.provide(Layer.succeed(Reverts, withFaults(Reverts, yield* Reverts, plan)))
  )
  return yield* Effect.provide(ImportRevert, layer)
})

/** Writes under idempotency keys, whose storage has the faults of the plan. */
export const idempotentWrites = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const keys = withFaults(IdempotencyKeys, yield* IdempotencyKeys, plan)
  const layer = idempotentWritesLayer.pipe(
    Layer.provide(Layer.succeed(IdempotencyKeys, keys)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
  )
  return yield* Effect.provide(IdempotentWrites, layer)
})

/** The errors of a failed validation, each with its path and code. */
export const errorsOf = (failure: object): ReadonlyArray<string> =>
  "errors" in failure && Array.isArray(failure.errors)
    ? (failure.errors as ReadonlyArray<{ attr: string; code: string }>).map(
        ({ attr, code }) => `${attr} ${code}`
      )
    : []
