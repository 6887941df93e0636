/**
 * What the board shows of the imports of a migration: the problems of those that failed, a filtered
 * list, and the life of one account. Personal data is masked; showing it, and a link to a document,
 * are in the audit log. A supplier that the user may not see is reported as unknown.
 * Source: docs/contract/board.md#imports.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { ExternalAccountNumber } from "../accounts/Account.ts"
import { DetailedState } from "../imports/ImportDetails.ts"
import { type BoardUser, isOfSupplier } from "../access/BoardUser.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { Accounts } from "../accounts/Accounts.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { verifyImport } from "../audit/AuditVerification.ts"
import { SealedAuditLog } from "../audit/SealedAuditLog.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { Documents, type DocumentsUnavailable } from "../documents/Documents.ts"
import { ImportProcesses } from "../imports/ImportProcesses.ts"
import { CohortMoves, MoveId } from "../migrations/CohortMoves.ts"
import { ImportSearch, type MoneyPart, type SearchFilter } from "../migrations/ImportSearch.ts"
import { Migrations, type StateCounts } from "../migrations/Migrations.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import { documentsUnavailable, type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { DocumentPath } from "../schema/DocumentPath.ts"
import { formatInstant } from "../schema/Field.ts"
import { traced } from "../support/Traced.ts"
import * as Bodies from "./AccountBodies.ts"
import { totalOf as statesTotal } from "./MigrationBodies.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { clearedBy, problemsBody, shares } from "./Problems.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

/** The conditions of a list as they were sent. */
export interface ImportsQuery {
  readonly state?: string
  readonly code?: string
  readonly attr?: string
  /** Only those that were staged again after they had failed. */
  readonly corrected?: boolean
  readonly cohort?: string
  /** Only imports without a cohort. */
  readonly without_cohort?: boolean
  readonly search?: string
  readonly ledger?: string
  readonly money?: MoneyPart
  /** Only those that were in this move. */
  readonly move?: string
  /** Only failed imports whose problems are all among the first n of `problems`. */
  readonly first_problems?: number
  readonly after: string | null
  /** From 1 to 1,000. */
  readonly limit: number
}

export class ImportBoard extends Context.Service<
  ImportBoard,
  {
    /** The most frequent first. */
    readonly problems: (
      user: BoardUser,
      supplier: string,
      cohort: string | null
    ) => Effect.Effect<ReturnType<typeof problemsBody>, Failure>
    /** In the order of the numbers. An unknown state matches no import. */
    readonly imports: (
      user: BoardUser,
      supplier: string,
      query: ImportsQuery
    ) => Effect.Effect<Bodies.ImportRows, Failure>
    readonly account: (
      user: BoardUser,
      supplier: string,
      number: string
    ) => Effect.Effect<Bodies.AccountBody, Failure>
    /** The staged payload unmasked; null if it was deleted. Audit: `read_import`. */
    readonly reveal: (
      caller: BoardCaller,
      supplier: string,
      number: string
    ) => Effect.Effect<{ readonly stored: unknown }, Failure>
    /**
     * A link to the document at this index of the account's list (from 0), valid for 5 minutes. Not
     * found if there is none, or the store has no expiring links. Audit: `read_document`.
     */
    readonly link: (
      caller: BoardCaller,
      supplier: string,
      number: string,
      place: number
    ) => Effect.Effect<{ readonly url: string; readonly expires_at: string }, Failure>
  }
>()("@data-import/domain/ImportBoard") {}

const linkLifetime = Duration.minutes(5)
const attemptsShown = 50
const auditShown = 100

const externalNumber = Schema.decodeUnknownOption(ExternalAccountNumber)
const documentPath = Schema.decodeUnknownOption(DocumentPath)
const isState = Schema.is(DetailedState)
const isMove = Schema.is(MoveId)

interface Dependencies {
  readonly accounts: Accounts["Service"]
  readonly auditLog: AuditLog["Service"]
  readonly configuration: Configuration["Service"]
  readonly documents: Documents["Service"]
  readonly migrations: Migrations["Service"]
  readonly moves: CohortMoves["Service"]
  readonly processes: ImportProcesses["Service"]
  readonly sealed: SealedAuditLog["Service"]
  readonly searching: ImportSearch["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

/** The sample of failed imports in which problems are counted, and how many failed in all. */
const sampled = Effect.fnUntraced(function* (
  { searching, summaries }: Dependencies,
  { code: supplier }: Supplier,
  cohort: string | null
) {
  const summary = yield* summaries.read({ supplier, cohort, at: yield* DateTime.now })
  const ofCodes = shares(summary.codes)
  const imports = yield* searching.failed({ supplier, cohort, ofCodes })
  return { failed: summary.states.FAILED, imports }
})

const inState = (states: StateCounts, state: DetailedState | undefined): number =>
  state === undefined ? statesTotal(states) : states[state]

/** How many imports match; null for combinations of conditions that are not counted. */
const countOf = Effect.fnUntraced(function* (
  { migrations, summaries }: Dependencies,
  { code: supplier }: Supplier,
  { code, cohort, ledger, money, move, numbers, state }: SearchFilter,
  at: DateTime.Utc
) {
  if (numbers !== undefined) return numbers.length
  if (money === "balance" && [code, cohort, ledger, state].every((each) => each === undefined)) {
    return (yield* summaries.read({ supplier, cohort: null, at })).states.IMPORTED
  }
  if ((ledger ?? money ?? move) !== undefined) return null
  // Corrected imports are counted by no code.
  if (code !== undefined && state !== "FAILED") return null
  if (cohort === null) {
    if (code !== undefined) return null
    const {
      cohorts: [first]
    } = yield* migrations.cohorts({ supplier, limit: 0, at })
    return first?.cohort === null ? inState(first.states, state) : 0
  }
  const { codes, states } = yield* summaries.read({ supplier, cohort: cohort ?? null, at })
  return code === undefined
    ? inState(states, state)
    : (codes.find((each) => each.code === code)?.imports ?? 0)
})

/** How many match in all; null if not counted. If fewer conditions match none, it is 0 too. */
const totalOf = Effect.fnUntraced(function* (
  deps: Dependencies,
  supplier: Supplier,
  filter: SearchFilter,
  at: DateTime.Utc
) {
  const count = yield* countOf(deps, supplier, filter, at)
  const { attr, corrected, search } = filter
  const isNarrowed = [attr, corrected, search].some((condition) => condition !== undefined)
  return count !== 0 && isNarrowed ? null : count
})

const imports = Effect.fnUntraced(function* (
  deps: Dependencies,
  supplier: Supplier,
  query: ImportsQuery
) {
  const {
    after,
    corrected,
    first_problems: first,
    limit,
    move,
    state,
    without_cohort,
    ...others
  } = query
  if (state !== undefined && !isState(state)) return Bodies.noImports
  if (move !== undefined && !isMove(move)) return Bodies.noImports
  const filter: SearchFilter = {
    ...others,
    ...(state !== undefined && { state }),
    ...(without_cohort === true && { cohort: null }),
    ...(corrected === true && { corrected }),
    ...(move !== undefined && { move }),
    ...(first !== undefined && {
      numbers: clearedBy((yield* sampled(deps, supplier, others.cohort ?? null)).imports, first)
    })
  }
  const at = yield* DateTime.now
  const total = yield* totalOf(deps, supplier, filter, at)
  if (total === 0) return Bodies.noImports
  const { code } = supplier
  const page = yield* deps.searching.page({ supplier: code, filter, after, limit, at })
  return Bodies.importRows(page, total)
})

/** The import of this number, with the supplier. */
const find = Effect.fnUntraced(function* (
  { configuration, processes }: Dependencies,
  user: BoardUser,
  code: string,
  named: string
) {
  const supplier = yield* visibleSupplier(configuration, user, code)
  const number = externalNumber(named)
  if (Option.isNone(number)) return yield* new NotFound()
  const key = { import_supplier: supplier.code, external_account_number: number.value }
  const details = yield* processes.details(key, attemptsShown)
  return Option.isSome(details) ? { supplier, key, details: details.value } : yield* new NotFound()
})

type Found = Effect.Success<ReturnType<typeof find>>

const contentOf = Effect.fnUntraced(function* (
  { accounts, searching }: Dependencies,
  { details, key }: Found
) {
  const { account, erased } = details.process
  const text = erased ? Option.none() : yield* searching.staged(key)
  const staged = Bodies.stagedOf(text)
  const stored =
    account === null || erased
      ? Option.none()
      : yield* Stream.runHead(accounts.read([account.number]))
  const documents = Option.isSome(stored)
    ? yield* Bodies.documentsOfAccount(stored.value)
    : Bodies.documentsStaged(staged)
  return { staged, stored, documents }
})

const account = Effect.fnUntraced(function* (deps: Dependencies, found: Found) {
  const { auditLog, sealed } = deps
  const { key } = found
  const [content, judgements, moves, audit, verified] = yield* Effect.all(
    [
      contentOf(deps, found),
      deps.searching.judgements(key, attemptsShown),
      deps.moves.ofImport(key, attemptsShown),
      auditLog.search({
        filter: {
          organisations: null,
          supplier: key.import_supplier,
          number: key.external_account_number
        },
        before: null,
        limit: auditShown
      }),
      verifyImport(sealed, key)
    ],
    { concurrency: "unbounded" }
  )
  const at = yield* DateTime.now
  return Bodies.accountBody(
    { ...found, ...content, judgements, moves, audit: audit.entries, verified },
    at
  )
})

const reveal = Effect.fnUntraced(function* (
  { auditLog, searching }: Dependencies,
  caller: BoardCaller,
  { details, key, supplier }: Found
) {
  yield* auditLog.recordRead({
    key,
    action: "read_import",
    caller: callerFor(caller, supplier.organisation),
    at: yield* DateTime.now
  })
  const text = details.process.erased ? Option.none() : yield* searching.staged(key)
  return { stored: Bodies.stagedOf(text) }
})

const link = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  found: Found,
  place: number
) {
  const { key, supplier } = found
  const { documents } = yield* contentOf(deps, found)
  const path = documentPath(documents[place]?.document_path)
  if (Option.isNone(path)) return yield* new NotFound()
  const url = yield* deps.documents.readLink(supplier.documentRoot, path.value, linkLifetime)
  if (Option.isNone(url)) return yield* new NotFound()
  const at = yield* DateTime.now
  yield* deps.auditLog.recordRead({
    key,
    action: "read_document",
    caller: callerFor(caller, supplier.organisation),
    at
  })
  const expiresAt = DateTime.addDuration(at, linkLifetime)
  return { url: url.value.href, expires_at: formatInstant(expiresAt) }
})

const available = <A>(
  effect: Effect.Effect<A, Failure | StorageUnavailable | DocumentsUnavailable>
) =>
  Effect.catchTags(effect, {
    StorageUnavailable: () => unavailable,
    DocumentsUnavailable: () => documentsUnavailable
  })

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    accounts: yield* Accounts,
    auditLog: yield* AuditLog,
    configuration: yield* Configuration,
    documents: yield* Documents,
    migrations: yield* Migrations,
    moves: yield* CohortMoves,
    processes: yield* ImportProcesses,
    sealed: yield* SealedAuditLog,
    searching: yield* ImportSearch,
    summaries: yield* SupplierSummaries
  }
  const seen = (user: BoardUser, named: string) => visibleSupplier(deps.configuration, user, named)

  return ImportBoard.of({
    problems: traced("ImportBoard.problems")((user, named, cohort) =>
      available(
        Effect.flatMap(seen(user, named), (supplier) => sampled(deps, supplier, cohort)).pipe(
          Effect.map(({ failed, imports: failures }) => problemsBody(failed, failures))
        )
      )
    ),
    imports: traced("ImportBoard.imports")((user, named, query) =>
      available(Effect.flatMap(seen(user, named), (supplier) => imports(deps, supplier, query)))
    ),
    account: traced("ImportBoard.account")((user, named, number) =>
      available(
        Effect.flatMap(find(deps, user, named, number), (found) => account(deps, found)).pipe(
          Effect.map((body) => (isOfSupplier(user) ? Bodies.accountForSupplier(body) : body))
        )
      )
    ),
    reveal: traced("ImportBoard.reveal")((caller, named, number) =>
      available(
        Effect.flatMap(find(deps, caller.user, named, number), (found) =>
          reveal(deps, caller, found)
        )
      )
    ),
    link: traced("ImportBoard.link")((caller, named, number, place) =>
      available(
        Effect.flatMap(find(deps, caller.user, named, number), (found) =>
          link(deps, caller, found, place)
        )
      )
    )
  })
})

/** Needs the storage ports and the document store. */
export const layer = Layer.effect(ImportBoard, make)
