/**
 * Comments on the board: every user who sees the supplier reads them, managers write them. The HTTP
 * layer checks that the user is a manager.
 * Source: docs/contract/board.md#comments.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ExternalAccountNumber } from "../accounts/Account.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { BoardUser } from "../access/BoardUser.ts"
import {
  type Comment,
  type CommentAbout,
  CommentId,
  Comments,
  type SaidAbout
} from "../migrations/Comments.ts"
import type { OpenItem } from "../migrations/OpenItems.ts"
import { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import { type Failure, NotFound } from "../requests/Failure.ts"
import { formatInstant } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { traced } from "../support/Traced.ts"
import { acting, looking } from "./Acting.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { invalid } from "./Selection.ts"

interface Commenting {
  /** Chosen by the page, so that sending it again adds no other comment. */
  readonly comment_id: string
  readonly about: SaidAbout
  readonly cohort: string | null
  readonly external_account_number: string | null
  readonly text: string
}

export interface CommentQuery {
  readonly cohort?: string
  readonly external_account_number?: string
  readonly about?: CommentAbout
  readonly before?: string
  readonly limit: number
}

export const commentBody = ({ account, at, id, number, open, ...comment }: Comment) => ({
  comment_id: id as string,
  at: formatInstant(at),
  by: comment.by,
  about: comment.about,
  cohort: comment.cohort,
  external_account_number: account as string | null,
  text: comment.text,
  open
})
export type CommentBody = ReturnType<typeof commentBody>

export interface CommentPage {
  readonly comments: ReadonlyArray<CommentBody>
  readonly next_before: string | null
}

export class CommentBoard extends Context.Service<
  CommentBoard,
  {
    /** The newest first. */
    readonly list: (
      user: BoardUser,
      supplier: string,
      query: CommentQuery
    ) => Effect.Effect<CommentPage, Failure>
    /** Also of a supplier that is paused or signed off. */
    readonly add: (
      caller: BoardCaller,
      supplier: string,
      command: Commenting
    ) => Effect.Effect<CommentBody, Failure>
  }
>()("@data-import/domain/CommentBoard") {}

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly comments: Comments["Service"]
  readonly configuration: Configuration["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

const numberOf = Schema.decodeUnknownOption(ExternalAccountNumber)
const idOf = Schema.decodeUnknownOption(CommentId)
const position = /^[1-9]\d{0,17}$/

const nothing: CommentPage = { comments: [], next_before: null }

const list = Effect.fnUntraced(function* (
  { comments }: Dependencies,
  { code: supplier }: Supplier,
  { about, before, cohort, external_account_number: named, limit }: CommentQuery
) {
  if (before !== undefined && !position.test(before)) {
    const detail = "Must be the next_before of a page."
    return yield* invalid({ attr: "before", code: "invalid", detail })
  }
  const account = named === undefined ? undefined : numberOf(named)
  if (account !== undefined && Option.isNone(account)) return nothing
  const found = yield* comments.list({
    supplier,
    ...(cohort !== undefined && { cohort }),
    ...(account !== undefined && { account: account.value }),
    ...(about !== undefined && { about }),
    before: before === undefined ? null : BigInt(before),
    limit: limit + 1
  })
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return {
    comments: shown.map(commentBody),
    next_before: last === undefined ? null : String(last.number)
  } satisfies CommentPage
})

/** What the correction file of these accounts has now. */
const inCorrections = Effect.fnUntraced(function* (
  { summaries }: Dependencies,
  { code: supplier }: Supplier,
  cohort: string | null
) {
  const at = yield* DateTime.now
  const { linesRefused, states } = yield* summaries.read({ supplier, cohort, at })
  return [
    { what: "FAILED", count: states.FAILED },
    { what: "LINES_REFUSED", count: linesRefused }
  ] satisfies ReadonlyArray<OpenItem>
})

const isSame = (present: Comment, command: Commenting, { code }: Supplier): boolean =>
  present.supplier === code &&
  present.about === command.about &&
  present.cohort === command.cohort &&
  present.account === command.external_account_number &&
  present.text === command.text

const ofOne: FieldError = {
  attr: "external_account_number",
  code: "invalid",
  detail: "A comment is about one account or a cohort, and a file about no account."
}

const add = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  command: Commenting
) {
  const { about, cohort, comment_id, external_account_number: named, text } = command
  const id = idOf(comment_id)
  if (Option.isNone(id)) {
    return yield* invalid({ attr: "comment_id", code: "invalid", detail: "Must be a UUID." })
  }
  const isSent = about === "corrections_sent"
  if (named !== null && (isSent || cohort !== null)) {
    return yield* invalid(ofOne)
  }
  const account = named === null ? null : numberOf(named)
  if (account !== null && Option.isNone(account)) return yield* new NotFound()
  yield* deps.comments.add({
    id: id.value,
    supplier: supplier.code,
    cohort,
    account: account && account.value,
    about,
    text,
    open: isSent ? yield* inCorrections(deps, supplier, cohort) : null,
    caller: callerFor(caller, supplier.organisation),
    at: yield* DateTime.now
  })
  const stored = (yield* deps.comments.find([id.value])).get(id.value)
  if (stored === undefined) return yield* new NotFound()
  if (isSame(stored, command, supplier)) return commentBody(stored)
  return yield* invalid({ attr: "comment_id", code: "invalid", detail: "Names another comment." })
})

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    auditLog: yield* AuditLog,
    comments: yield* Comments,
    configuration: yield* Configuration,
    summaries: yield* SupplierSummaries
  }
  const on = acting(deps)
  const seen = looking(deps)
  return CommentBoard.of({
    list: traced("CommentBoard.list")((user, named, query) =>
      seen(user, named, (supplier) => list(deps, supplier, query))
    ),
    add: traced("CommentBoard.add")((caller, named, command) =>
      on(caller, named, "comment", (supplier) => add(deps, caller, supplier, command))
    )
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(CommentBoard, make)
