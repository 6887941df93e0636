/**
 * Imports and accounts as the board answers them, with personal data masked.
 * Source: docs/contract/board.md#imports.
 */
import { DateTime, Effect, Option, Result, Stream } from "effect"
import {
  type Attempt,
  type ImportDetails,
  detailedStateOf,
  isFailure,
  recordOfAttempt
} from "../imports/ImportDetails.ts"
import type { AttemptId } from "../imports/ImportProcess.ts"
import { partsOfJudgedBy } from "../imports/JudgedBy.ts"
import { recordedCode, type Supplier, wireCode } from "../suppliers/Supplier.ts"
import { moreRefused, type NumberedEntry } from "../audit/AuditLog.ts"
import type { AuditVerification } from "../audit/AuditVerification.ts"
import type { FoundImport, FoundPage, Judgement } from "../migrations/ImportSearch.ts"
import type { Comment } from "../migrations/Comments.ts"
import type { AccountMove, CohortMove } from "../migrations/CohortMoves.ts"
import { notStarted } from "../migrations/WavePlans.ts"
import type { Items, StoredAccount } from "../accounts/StoredAccount.ts"
import { windowEnd } from "../imports/Revert.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import { isObject, parse } from "../schema/Json.ts"
import { wholePayload } from "../schema/Rules.ts"
import { maskedAccount, maskedError, maskedDocument, maskedPath } from "./Masking.ts"
import { commentBody } from "./CommentBoard.ts"
import { explained, isCode } from "./MigrationBodies.ts"
import { accountMoveBody, moveBody } from "./MoveBodies.ts"

const orNull = (at: DateTime.Utc | null): string | null => (at === null ? null : formatInstant(at))

/** What failed first; of an attempt without errors it is its outcome. */
const problemBody = ({ code: outcome, error }: NonNullable<FoundImport["failure"]>) => {
  const { attr, code, detail, parameters } = error ?? { code: outcome, attr: wholePayload }
  return { code, attr: maskedPath(attr), ...maskedError(code, detail, parameters?.business_day) }
}

const rowBody = ({ account, cohort, failure, number, stagedAt, state }: FoundImport) => ({
  external_account_number: number as string,
  kraken_account_number: account?.number ?? null,
  state: state as string,
  cohort,
  staged_at: formatInstant(stagedAt),
  account_created_at: orNull(account?.createdAt ?? null),
  balance: account && twoDecimals(account.balance),
  code: failure && failure.code,
  problem: failure && problemBody(failure)
})

export interface ImportRows {
  readonly imports: ReadonlyArray<ReturnType<typeof rowBody>>
  readonly total: number | null
  readonly next_after: string | null
}

export const noImports: ImportRows = { imports: [], total: 0, next_after: null }

export const importRows = (page: FoundPage, total: number | null): ImportRows => ({
  imports: page.imports.map(rowBody),
  total,
  next_after: page.next
})

/** Whether this is the outcome of what was refused, or has failed: the code, or that of many. */
const hasFailed = (outcome: string): boolean =>
  outcome === moreRefused ||
  outcome.startsWith(notStarted) ||
  (isCode(outcome) && outcome !== "dry_run_successful")

/** An entry, with the move or the comment that it is about. */
export const auditBody = (
  entry: NumberedEntry,
  move: CohortMove | null = null,
  comment: Comment | null = null
) => ({
  id: String(entry.id),
  at: formatInstant(entry.at),
  organisation: entry.organisation,
  who: entry.apiKey as string,
  action: entry.action as string,
  outcome: entry.outcome,
  failed: hasFailed(entry.outcome),
  import_supplier: entry.import_supplier === null ? null : recordedCode(entry.import_supplier),
  external_account_number: entry.external_account_number,
  request_id: entry.requestId as string,
  move: move && moveBody(move),
  comment: comment && commentBody(comment)
})

/** What was staged, parsed; null if it was deleted. */
export const stagedOf = (text: Option.Option<string>): unknown =>
  Option.isNone(text) ? null : Result.getOrElse(parse(text.value), () => null)

const documentsShown = 1_000

interface ShownDocument {
  readonly document_path: string
  readonly size: number | null
}

const listIn = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const list = isObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list : []
}

/** The documents of an import that is no account yet. */
export const documentsStaged = (staged: unknown): ReadonlyArray<ShownDocument> => {
  const ofNotes = listIn(staged, "notes").flatMap((note) =>
    listIn(note, "document_paths").map((each) => isObject(each) && each["document_path"])
  )
  const ofStatements = listIn(staged, "statements").map(
    (statement) => isObject(statement) && statement["statement_path"]
  )
  return [...ofNotes, ...ofStatements]
    .flatMap((path) => (typeof path === "string" ? [{ document_path: path, size: null }] : []))
    .slice(0, documentsShown)
}

const isRead = <A>(items: Items<A>): items is ReadonlyArray<A> => Array.isArray(items)

const countOf = (items: Items<unknown>): number => (isRead(items) ? items.length : items.count)

/** The first documents of an account, in their order. */
export const documentsOfAccount = ({ documents }: StoredAccount) =>
  Effect.map(
    isRead(documents)
      ? Effect.succeed(documents.slice(0, documentsShown))
      : Stream.runCollect(Stream.take(documents.elements, documentsShown)),
    (found): ReadonlyArray<ShownDocument> =>
      [...found].map(({ found: file, path }) => ({ document_path: path, size: file?.size ?? null }))
  )

export interface KnownAccount {
  readonly supplier: Supplier
  readonly details: ImportDetails
  readonly staged: unknown
  readonly stored: Option.Option<StoredAccount>
  readonly documents: ReadonlyArray<ShownDocument>
  readonly judgements: ReadonlyMap<AttemptId, Judgement>
  readonly moves: ReadonlyArray<AccountMove>
  readonly audit: ReadonlyArray<NumberedEntry>
  readonly verified: AuditVerification
}

/**
 * The attempt before this one, if it failed by rules about the business day alone, and this one
 * passed with the same account on another day. What a broken-off attempt would have found is
 * unknown.
 */
const passedByDay = (
  { details, judgements }: Pick<KnownAccount, "details" | "judgements">,
  { id, outcome, startedAt }: Attempt
) => {
  const passed = judgements.get(id)
  const before = details.attempts.filter((each) => DateTime.isLessThan(each.startedAt, startedAt))
  const last = before.findLast((each) => each.outcome !== null && isFailure(each.outcome))
  if (passed === undefined || last === undefined || outcome === null || isFailure(outcome)) {
    return null
  }
  const failed = judgements.get(last.id)
  const [now, then] = [partsOfJudgedBy(passed.by), partsOfJudgedBy(failed?.by ?? "")]
  const isOfDay =
    last.errors.length > 0 && last.errors.every(({ parameters }) => parameters?.business_day)
  if (!isOfDay || failed?.hash !== passed.hash || now.day === then.day) return null
  return {
    failed_at: formatInstant(last.endedAt ?? last.startedAt),
    failed_on: then.day,
    business_day: now.day,
    alone: now.others === then.others
  }
}

const attemptBodies = (known: KnownAccount, at: DateTime.Utc) =>
  known.details.attempts.toReversed().map((attempt) => {
    const record = recordOfAttempt(known.details, attempt, at)
    const code = record.code as string | null
    return {
      started_at: formatInstant(record.started_at),
      ended_at: orNull(record.ended_at),
      dry_run: record.dry_run,
      outcome: record.outcome,
      code,
      meaning: code === null ? null : explained(code).meaning,
      errors: record.errors.map((error) => ({
        code: error.code,
        attr: maskedPath(error.attr),
        ...maskedError(error.code, error.detail, error.parameters?.business_day)
      })),
      passed_by_day: passedByDay(known, attempt)
    }
  })

const nothingAdded = { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 }

const addedBody = ({ added }: StoredAccount) => ({
  transactions: countOf(added.transactions),
  notes: countOf(added.notes),
  statements: countOf(added.statements),
  payment_instructions: added.payment_instructions.length
})

/** Who reverted is in the audit log, under the instant of the revert. */
const revertedBodies = ({ audit, details }: KnownAccount) =>
  details.reverted.toReversed().map(({ createdAt, number, reason, revertedAt }) => ({
    kraken_account_number: number as string,
    account_created_at: formatInstant(createdAt),
    reverted_at: formatInstant(revertedAt),
    reverted_by:
      audit.find(
        ({ action, at, outcome }) =>
          action === "revert_import" &&
          outcome === "reverted" &&
          DateTime.Equivalence(at, revertedAt)
      )?.apiKey ?? null,
    reason
  }))

const revertUntil = ({ details, supplier }: KnownAccount): string | null => {
  const { account } = details.process
  return account === null || supplier.status === "Complete"
    ? null
    : formatInstant(windowEnd(account.createdAt, supplier.revertWindow))
}

export const accountBody = (known: KnownAccount, at: DateTime.Utc) => {
  const { audit, details, documents, moves, staged, stored, verified } = known
  const { account, key } = details.process
  return {
    import_supplier: wireCode(key.import_supplier) as string,
    external_account_number: key.external_account_number as string,
    kraken_account_number: account?.number ?? null,
    state: detailedStateOf(details, at) as string,
    cohort: details.cohort,
    staged_at: formatInstant(details.stagedAt),
    times_staged: details.stagings,
    account_created_at: orNull(account?.createdAt ?? null),
    balance: Option.match(stored, {
      onNone: () => null,
      onSome: (each) => twoDecimals(each.balance)
    }),
    attempts: attemptBodies(known, at),
    stored: staged === null ? null : maskedAccount(staged),
    added: Option.match(stored, { onNone: () => nothingAdded, onSome: addedBody }),
    revert_until: revertUntil(known),
    reverted: revertedBodies(known),
    documents: documents.map((each) => ({
      ...each,
      document_path: maskedDocument(each.document_path)
    })),
    moves: moves.map(accountMoveBody),
    audit: audit.map((entry) => auditBody(entry)),
    audit_seal: {
      entries: verified.entries,
      holds: verified.fault === null,
      broken_at: verified.fault?.entry ? String(verified.fault.entry.id) : null
    }
  }
}

/** For a user of the supplier: without people of the operator, and what they have written. */
export const accountForSupplier = (body: ReturnType<typeof accountBody>) => ({
  ...body,
  reverted: body.reverted.map((each) => ({ ...each, reverted_by: null, reason: null })),
  moves: [],
  audit: [],
  audit_seal: null
})

export type AccountBody = ReturnType<typeof accountBody> | ReturnType<typeof accountForSupplier>
