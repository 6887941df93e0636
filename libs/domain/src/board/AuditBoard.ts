/**
 * The audit log as the board shows and exports it: what was done for the organisations that the
 * user may see. A supplier that the user may not see has no entries.
 * Source: docs/contract/board.md#audit.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import type { BoardUser } from "../access/BoardUser.ts"
import { codeIn } from "../suppliers/Supplier.ts"
import { type AuditFilter, AuditLog, type NumberedEntry } from "../audit/AuditLog.ts"
import { CommentId, Comments } from "../migrations/Comments.ts"
import { CohortMoves, MoveId } from "../migrations/CohortMoves.ts"
import { type Failure, unavailable, ValidationFailed } from "../requests/Failure.ts"
import { Instant } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { traced } from "../support/Traced.ts"
import { auditBody } from "./AccountBodies.ts"
import { csvOf } from "./Csv.ts"

/** The conditions as they were sent. */
export interface AuditQuery {
  readonly import_supplier?: string
  readonly external_account_number?: string
  readonly who?: string
  /** Only what people did: users of the board, and operators. */
  readonly people?: boolean
  readonly action?: string
  readonly from?: string
  readonly to?: string
  readonly before?: string
  /** From 1 to `entriesAtOnce`. */
  readonly limit: number
}

const entriesAtOnce = 1_000

interface AuditPage {
  readonly entries: ReadonlyArray<ReturnType<typeof auditBody>>
  readonly next_before: string | null
  /** The search has ended before the page was full, and older entries may match. */
  readonly stopped: boolean
}

export class AuditBoard extends Context.Service<
  AuditBoard,
  {
    /** The newest first. */
    readonly list: (user: BoardUser, query: AuditQuery) => Effect.Effect<AuditPage, Failure>
    /** At most the newest 10,000 of them, as CSV. The last row says so if there may be more. */
    readonly csv: (
      user: BoardUser,
      query: Omit<AuditQuery, "before" | "limit">
    ) => Effect.Effect<string, Failure>
  }
>()("@data-import/domain/AuditBoard") {}

const exported = 10_000

/** The limit of pages read for an export: pages may be short. */
const pagesOfExport = 200

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)
const instant = Schema.decodeUnknownOption(Instant)
const position = /^[1-9]\d{0,18}$/
const lastPosition = 2n ** 63n - 1n

const instantOf = (name: "from" | "to", text: string | undefined, errors: Array<FieldError>) => {
  if (text === undefined) return {}
  const read = instant(text)
  if (Option.isSome(read)) return { [name]: read.value }
  const detail = "Must be a datetime with Z or an offset, like 2025-01-31T10:00:00Z."
  errors.push({ attr: name, code: "invalid_datetime", detail })
  return {}
}

/** Null if no supplier can have this code. */
const filterOf = (
  { organisations }: BoardUser,
  {
    action,
    external_account_number: number,
    from,
    import_supplier,
    people,
    to,
    who
  }: Omit<AuditQuery, "limit">
): Effect.Effect<AuditFilter | null, ValidationFailed> =>
  Effect.suspend(() => {
    const errors: Array<FieldError> = []
    const code = import_supplier === undefined ? null : supplierCode(import_supplier)
    const times = { ...instantOf("from", from, errors), ...instantOf("to", to, errors) }
    if (errors.length > 0) {
      return new ValidationFailed({ code: "request_failed_validation", errors })
    }
    if (code !== null && Option.isNone(code)) return Effect.succeed(null)
    return Effect.succeed({
      organisations,
      ...times,
      ...(code !== null && { supplier: codeIn("live", code.value) }),
      ...(number !== undefined && { number }),
      ...(who !== undefined && { apiKey: who }),
      ...(people === true && { isByPerson: true }),
      ...(action !== undefined && { action })
    })
  })

const beforeOf = (text: string | undefined): Effect.Effect<bigint | null, ValidationFailed> => {
  if (text === undefined) return Effect.succeed(null)
  const before = position.test(text) ? BigInt(text) : null
  if (before !== null && before <= lastPosition) return Effect.succeed(before)
  const detail = "Must be the next_before of a page."
  const errors = [{ attr: "before", code: "invalid", detail }] as const
  return Effect.fail(new ValidationFailed({ code: "request_failed_validation", errors }))
}

const moveId = Schema.decodeUnknownOption(MoveId)

/** The move that an entry is about; its outcome has the id. */
const moveOf = ({ action, outcome }: NumberedEntry): MoveId | null =>
  action === "move_accounts" ? Option.getOrNull(moveId(outcome.split(" ")[1])) : null

const commentId = Schema.decodeUnknownOption(CommentId)

/** The same of a comment. */
const commentOf = ({ action, outcome }: NumberedEntry): CommentId | null =>
  action === "comment" ? Option.getOrNull(commentId(outcome.split(" ")[1])) : null

/** What was found by the id that an entry has. */
const foundBy = <Id, A>(found: ReadonlyMap<Id, A>, id: Id | null): A | null =>
  id === null ? null : (found.get(id) ?? null)

const head = [
  "id",
  "at",
  "organisation",
  "who",
  "action",
  "outcome",
  "import_supplier",
  "external_account_number",
  "request_id"
] as const

const rowOf = (entry: NumberedEntry) => {
  const body = auditBody(entry)
  return head.map((name) => body[name])
}

const incomplete = (entries: ReadonlyArray<NumberedEntry>): string =>
  `Not complete: these are the newest ${entries.length} entries, and older ones may match.`

const make = Effect.gen(function* () {
  const { search } = yield* AuditLog
  const moves = yield* CohortMoves
  const comments = yield* Comments

  const list = Effect.fnUntraced(function* (user: BoardUser, query: AuditQuery) {
    const filter = yield* filterOf(user, query)
    const before = yield* beforeOf(query.before)
    if (filter === null) return { entries: [], next_before: null, stopped: false }
    const { limit } = query
    const found = yield* search({ filter, before, limit })
    const moved = yield* moves.find(found.entries.flatMap((entry) => moveOf(entry) ?? []))
    const said = yield* comments.find(found.entries.flatMap((entry) => commentOf(entry) ?? []))
    return {
      entries: found.entries.map((entry) =>
        auditBody(entry, foundBy(moved, moveOf(entry)), foundBy(said, commentOf(entry)))
      ),
      next_before: found.next === null ? null : String(found.next),
      stopped: found.stopped
    }
  })

  const csv = Effect.fnUntraced(function* (
    user: BoardUser,
    query: Omit<AuditQuery, "before" | "limit">
  ) {
    const filter = yield* filterOf(user, query)
    const entries: Array<NumberedEntry> = []
    let before: bigint | null = null
    for (let page = 0; filter !== null && page < pagesOfExport; page++) {
      const limit = Math.min(entriesAtOnce, exported - entries.length)
      const found: Effect.Success<ReturnType<typeof search>> = yield* search({
        filter,
        before,
        limit
      })
      entries.push(...found.entries)
      before = found.next
      if (before === null || entries.length >= exported) break
    }
    return csvOf([head, ...entries.map(rowOf), ...(before === null ? [] : [[incomplete(entries)]])])
  })

  return AuditBoard.of({
    list: traced("AuditBoard.list")((user, query) =>
      Effect.catchTag(list(user, query), "StorageUnavailable", () => unavailable)
    ),
    csv: traced("AuditBoard.csv")((user, query) =>
      Effect.catchTag(csv(user, query), "StorageUnavailable", () => unavailable)
    )
  })
})

/** Needs the audit log. */
export const layer = Layer.effect(AuditBoard, make)
