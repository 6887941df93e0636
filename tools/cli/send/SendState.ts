/**
 * The state of `send`, with which the same command continues where an earlier one ended: a file for
 * each part of a book, deployment and settings, in `data-import/sends` in `XDG_STATE_HOME`, or in
 * `.local/state` of the home directory. It exists before the batch is created, and has the
 * Idempotency-Key with which a repeated creation returns the same batch.
 *
 * It is not beside the book, whose folder may be read-only, and whose copies are the same book.
 */
import { createHash, randomUUID } from "node:crypto"
import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { DateTime, Effect, Path, Schema } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { userFolder } from "../connection/Profiles.ts"
import { reasonOf } from "../Reason.ts"
import type { Content } from "./BookContent.ts"
import type { Part } from "./BookParts.ts"

const Payload = Schema.Struct({
  import_supplier: Schema.String,
  operation: Schema.Literals([
    "STAGE",
    "IMPORT",
    "NOTES",
    "TRANSACTIONS",
    "STATEMENTS",
    "PAYMENT_INSTRUCTIONS"
  ]),
  name: Schema.String,
  operations_team_name: Schema.optionalKey(Schema.String),
  cohort: Schema.optionalKey(Schema.String),
  dry_run: Schema.optionalKey(Schema.Boolean),
  max_failures: Schema.optionalKey(Schema.Int)
})
/** The batch to create. */
export type Payload = typeof Payload.Type

const State = Schema.Struct({
  started_at: Schema.String,
  book: Schema.String,
  base_url: Schema.String,
  payload: Payload,
  idempotency_key: Schema.String,
  /** Null until the creation was answered. */
  batch_id: Schema.NullOr(Schema.String)
})
export type State = typeof State.Type

/** A send in progress. */
export interface Send {
  readonly state: State
  /** Whether an earlier command began it. */
  readonly isResumed: boolean
  readonly remember: (batch_id: string) => Effect.Effect<void, Refused>
  /** Deletes the state. The same command then starts over. */
  readonly forget: Effect.Effect<void, Refused>
  readonly isForgotten: () => boolean
}

export interface Identity {
  readonly book: string
  readonly baseUrl: string
  readonly content: Content
  readonly part: Part
  readonly payload: Payload
}

const decode = Schema.decodeEffect(Schema.fromJsonString(State))

const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code

const attempt = <A>(file: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) =>
      new Refused({ why: `Cannot use ${file}, which remembers the send: ${reasonOf(error)}.` })
  })

/** Writes a draft that survives a power cut. */
const writeDraft = async (file: string, state: State): Promise<string> => {
  const draft = `${file}.${process.pid}`
  const handle = await open(draft, "w", 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(state, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}

/** Creates the file atomically. False if another command has created it. */
const create = async (file: string, state: State): Promise<boolean> => {
  const draft = await writeDraft(file, state)
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

const replace = async (file: string, state: State): Promise<void> => {
  await rename(await writeDraft(file, state), file)
}

const readIfThere = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null
    throw error
  }
}

/** The same for the same content, deployment and settings, wherever the book is. */
const nameOf = ({ baseUrl, content, part, payload }: Identity): string => {
  const { name: _, ...settings } = payload
  const place = content.parts.length > 1 ? [part.firstLine] : []
  const identity = JSON.stringify([baseUrl, content.sha256, content.bytes, settings, ...place])
  return `${createHash("sha256").update(identity).digest("hex").slice(0, 32)}.json`
}

const read = Effect.fnUntraced(function* (file: string) {
  const text = yield* attempt(file, () => readIfThere(file))
  if (text === null) return null
  return yield* Effect.mapError(
    decode(text),
    () => new Refused({ why: `Cannot read ${file}, which remembers the send. --new replaces it.` })
  )
})

/** The send that an earlier command began, or a new one. `isNew` forgets the earlier one. */
export const beginSend = Effect.fnUntraced(function* (identity: Identity, isNew: boolean) {
  const path = yield* Path.Path
  const folder = path.join(yield* userFolder("XDG_STATE_HOME", ".local/state"), "sends")
  const file = path.join(folder, nameOf(identity))
  yield* attempt(file, () => mkdir(folder, { recursive: true, mode: 0o700 }))
  const remove = attempt(file, () => rm(file, { force: true }))
  if (isNew) yield* remove
  const own: State = {
    started_at: DateTime.formatIso(yield* DateTime.now),
    book: identity.book,
    base_url: identity.baseUrl,
    payload: identity.payload,
    idempotency_key: randomUUID(),
    batch_id: null
  }
  const earlier = yield* read(file)
  const isOwn = earlier === null && (yield* attempt(file, () => create(file, own)))
  const state = isOwn ? own : (earlier ?? (yield* read(file)) ?? own)
  let isForgotten = false
  const send: Send = {
    state,
    isResumed: !isOwn,
    remember: (batch_id) => attempt(file, () => replace(file, { ...state, batch_id })),
    forget: Effect.tap(remove, () => Effect.sync(() => (isForgotten = true))),
    isForgotten: () => isForgotten
  }
  return send
})
