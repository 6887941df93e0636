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
import { ImportProcesses } from "../src/ports/ImportProcesses.ts"
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
  newAccountFor,
  noon,
  testSupplierOf
} from "../testing/freshNames.ts"
import { claim, stagedPayload } from "../testing/importStates.ts"
import { domesticAccount } from "../testing/samples.ts"

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

export type Owner = Effect.Success<typeof freshSupplier>

export const userOf = (
  organisations: ReadonlyArray<OrganisationName> | null,
  role: BoardUser["role"] = "manager"
): BoardUser => ({ subject: "subject-1", name: "mia", role, organisations })

/** It is noon. */
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

export const stage = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  numbers: ReadonlyArray<string>,
  cohort: string | null = null,
  payload: string = stagedPayload
) {
  const imports = yield* ImportProcesses
  const at = yield* DateTime.now
  for (const number of numbers) {
    yield* imports.stage({ key: keyOf(number), payload, cohort, caller, at })
  }
})

export const complete = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, number: string) {
  const imports = yield* ImportProcesses
  const at = yield* DateTime.now
  const key = keyOf(number)
  const { attempt } = yield* claim(key, caller, at)
  const newAccount = { ...newAccountFor(key, at), account: domesticAccount(key) }
  yield* imports.complete({ key, attempt, newAccount, caller })
  return newAccount
})

export const fail = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  errors: ReadonlyArray<{
    readonly code: "invalid" | "blank" | "path_does_not_exist_in_file_store"
    readonly attr: string
  }> = [{ code: "invalid", attr: "customers.0.landline" }]
) {
  const imports = yield* ImportProcesses
  const at = yield* DateTime.now
  const key = keyOf(number)
  const { attempt } = yield* claim(key, caller, at)
  const outcome = "account_failed_validation"
  const told = errors.map((error) => ({ ...error, detail: "Is 'Mrs Example', too long." }))
  yield* imports.release({ key, attempt, outcome, errors: told, dryRun: false, caller, at })
})

/** As the query service does each second. */
export const fold = Effect.gen(function* () {
  const summaries = yield* SupplierSummaries
  yield* summaries.fold({ limit: 1_000, at: yield* DateTime.now })
})

/** What a request leaves for its log entry, whatever its outcome. */
export const notedBy = <A, E, R>(request: Effect.Effect<A, E, R>) => {
  const facts = RequestFacts.make()
  return Effect.exit(request).pipe(
    Effect.provideService(RequestFacts.Current, facts),
    Effect.as(facts)
  )
}
