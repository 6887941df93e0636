/** The programs of the board on PostgreSQL: two live organisations and a test organisation, each with a supplier. */
import { DateTime, Effect, Layer } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { layer as auditBoard } from "@data-import/domain/board/AuditBoard"
import { layer as certificateBoard } from "@data-import/domain/board/CertificateBoard"
import { CommentBoard, layer as commentBoard } from "@data-import/domain/board/CommentBoard"
import { layer as accountLists } from "@data-import/domain/board/AccountLists"
import { layer as importBoard } from "@data-import/domain/board/ImportBoard"
import { layer as actions, MigrationActions } from "@data-import/domain/board/MigrationActions"
import { layer as forecasting } from "@data-import/domain/migrations/MigrationForecasts"
import { layer as migrationBoard, MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { layer as waveReview } from "@data-import/domain/board/WaveReview"
import { layer as programmeBoard } from "@data-import/domain/board/ProgrammeBoard"
import { layer as waveBoard, WaveBoard } from "@data-import/domain/board/WaveBoard"
import { summaryCsv, summaryDocument } from "@data-import/domain/board/SummaryDocument"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { type OrganisationName, RequestId } from "@data-import/domain/suppliers/Organisation"
import { issueNext } from "@data-import/domain/certificates/CertificateIssuing"
import { Certificates } from "@data-import/domain/certificates/Certificates"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Hashing as HashingPort } from "@data-import/domain/requests/Hashing"
import * as Hashing from "@data-import/server/Hashing"
import { layerMemory as documents } from "@data-import/domain/testing/memory/Documents"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import {
  freshSupplier,
  freshTestOrganisation,
  hex,
  noon,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import { SteppedClock } from "@data-import/postgres/testing/SteppedClock"
import * as TestDatabase from "@data-import/postgres/testing/TestDatabase"
import * as Imports from "@data-import/domain/testing/importStates"

export type Owner = Imports.Owner

const ports = Layer.mergeAll(
  TestDatabase.deployedWithTeam,
  documents(new Map()),
  Hashing.layer,
  SteppedClock.layer
)

export const boardLayer = Layer.mergeAll(
  auditBoard,
  certificateBoard,
  commentBoard,
  accountLists,
  importBoard,
  actions,
  migrationBoard,
  programmeBoard,
  waveBoard,
  waveReview
).pipe(Layer.provideMerge(forecasting), Layer.provideMerge(ports))

export const userOf = (
  organisations: ReadonlyArray<OrganisationName> | null,
  role: BoardUser["role"] = "manager"
): BoardUser => ({ subject: "subject-1", name: "mia", role, organisations, suppliers: null })

/** Sets the clock to noon. */
export const begin = Effect.gen(function* () {
  yield* (yield* SteppedClock).set(noon)
  const configuration = yield* Configuration
  const mine = yield* freshSupplier
  const foreign = yield* freshSupplier
  const test = yield* freshTestOrganisation(mine.supplier.organisation)
  const testSupplier = testSupplierOf(test.name)
  yield* configuration.createSupplier(testSupplier)
  return { mine, foreign, testSupplier, user: userOf([mine.supplier.organisation]) }
})

/** The same, with a manager as the caller. */
export const begun = Effect.gen(function* () {
  const world = yield* begin
  const requestId = RequestId.make(`request-${hex(16)}`)
  return { ...world, caller: { user: world.user, requestId }, code: world.mine.supplier.code }
})

/** What the audit log has of a request. */
export const entriesOf = Effect.fnUntraced(function* (id: RequestId) {
  const entries = yield* (yield* AuditLog).ofRequest(id)
  return entries.map(({ action, apiKey, outcome }) => `${apiKey} ${action} ${outcome}`)
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

/** The summary of a migration as CSV, with the newest comments. */
export const summaryOf = Effect.fnUntraced(function* (user: BoardUser, code: string) {
  const board = yield* MigrationBoard
  return summaryCsv(
    summaryDocument({
      detail: yield* board.detail(user, code),
      signOff: yield* (yield* MigrationActions).signOffState({ user }, code),
      totals: yield* board.controlTotals(user, code),
      waves: yield* (yield* WaveBoard).list(user, code),
      comments: yield* (yield* CommentBoard).list(user, code, { limit: 200 })
    })
  )
})

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

/** Publishes the keys, and issues the certificates that were requested, as the batch worker does. */
export const issueAll = (sign = (): Effect.Effect<string> => Effect.succeed("a.b.c")) =>
  Effect.gen(function* () {
    const certificates = yield* Certificates
    const keys = Effect.succeed([{ kid: "k", x: "x" }])
    yield* certificates.addKeys(yield* keys, yield* DateTime.now)
    const signer = { issuer: "test", sign, keys }
    const ports = { certificates, hashing: yield* HashingPort, signer }
    while (yield* Effect.catchDefect(issueNext(ports), () => Effect.succeed(true))) continue
  }).pipe(Effect.provide(Hashing.layer))
