/** A board in memory: two live organisations and a test organisation, each with a supplier. */
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layer as auditBoard } from "../src/board/AuditBoard.ts"
import { layer as importBoard } from "../src/board/ImportBoard.ts"
import { layer as actions } from "../src/board/MigrationActions.ts"
import { layer as forecasting } from "../src/board/MigrationForecasts.ts"
import { layer as migrationBoard } from "../src/board/MigrationBoard.ts"
import type { BoardUser } from "../src/organisation/BoardUser.ts"
import type { OrganisationName } from "../src/organisation/Organisation.ts"
import { Configuration } from "../src/ports/Configuration.ts"
import { layerMemory as accounts } from "../src/ports/memory/Accounts.ts"
import { layerMemory as auditLog } from "../src/ports/memory/AuditLog.ts"
import { layerMemory as batches } from "../src/ports/memory/Batches.ts"
import { layerMemory as configuration } from "../src/ports/memory/Configuration.ts"
import { layerMemory as documents } from "../src/ports/memory/Documents.ts"
import { layerMemory as forecasts } from "../src/ports/memory/Forecasts.ts"
import { layerMemory as importProcesses } from "../src/ports/memory/ImportProcesses.ts"
import { layerMemory as importSearch } from "../src/ports/memory/ImportSearch.ts"
import { layerMemory as migrations } from "../src/ports/memory/Migrations.ts"
import { layerMemory as summaries } from "../src/ports/memory/SupplierSummaries.ts"
import { MemoryStore } from "../src/ports/memory/Store.ts"
import { SupplierSummaries } from "../src/ports/SupplierSummaries.ts"
import * as RequestFacts from "../src/requests/RequestFacts.ts"
import {
  freshSupplier,
  freshTestOrganisation,
  noon,
  testSupplierOf
} from "../testing/freshNames.ts"
import * as Imports from "../testing/importStates.ts"

export type Owner = Imports.Owner

const ports = Layer.mergeAll(
  accounts,
  documents(new Map()),
  forecasts,
  importSearch,
  auditLog,
  batches,
  configuration,
  importProcesses,
  migrations,
  summaries,
  MemoryStore.layer
)

export const boardLayer = Layer.mergeAll(auditBoard, importBoard, actions, migrationBoard).pipe(
  Layer.provideMerge(forecasting),
  Layer.provideMerge(ports)
)

export const userOf = (
  organisations: ReadonlyArray<OrganisationName> | null,
  role: BoardUser["role"] = "manager"
): BoardUser => ({ subject: "subject-1", name: "mia", role, organisations })

/** Sets the clock to noon. */
export const begin = Effect.gen(function* () {
  yield* TestClock.setTime(DateTime.toEpochMillis(noon))
  const configuration = yield* Configuration
  const mine = yield* freshSupplier
  const foreign = yield* freshSupplier
  const test = yield* freshTestOrganisation(mine.supplier.organisation)
  const testSupplier = testSupplierOf(test.name)
  yield* configuration.createSupplier(testSupplier)
  return { mine, foreign, testSupplier, user: userOf([mine.supplier.organisation]) }
})

export const stage = (
  owner: Owner,
  numbers: ReadonlyArray<string>,
  cohort: string | null = null,
  payload: string = Imports.stagedPayload
) => Effect.flatMap(DateTime.now, (at) => Imports.stage(owner, numbers, cohort, { at, payload }))

export const complete = (owner: Owner, number: string) =>
  Effect.flatMap(DateTime.now, (at) => Imports.complete(owner, number, at))

export const fail = (
  owner: Owner,
  number: string,
  errors: ReadonlyArray<{
    readonly code: "invalid" | "blank" | "path_does_not_exist_in_file_store"
    readonly attr: string
  }> = [{ code: "invalid", attr: "customers.0.landline" }]
) => {
  const told = errors.map((error) => ({ ...error, detail: "Is 'Mrs Example', too long." }))
  return Effect.flatMap(DateTime.now, (at) => Imports.fail(owner, number, at, told))
}

/** Folds the summaries, as the query service does each second. */
export const fold = Effect.gen(function* () {
  const summaries = yield* SupplierSummaries
  yield* summaries.fold({ limit: 1_000, at: yield* DateTime.now })
})

/** The facts that a request notes for its log entry, whatever its outcome. */
export const notedBy = <A, E, R>(request: Effect.Effect<A, E, R>) => {
  const facts = RequestFacts.make()
  return Effect.exit(request).pipe(
    Effect.provideService(RequestFacts.Current, facts),
    Effect.as(facts)
  )
}
