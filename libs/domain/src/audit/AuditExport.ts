/**
 * Exports the head of the audit log and its new leaves once a day, to a place where the owner of
 * the database cannot alter them, and compares the log with an export. The database alone cannot
 * detect an owner who alters an entry, its leaf and the head. An export has neither numbers nor
 * salts, so it does not help to find an erased number. An erasure does not change the leaves.
 * Source: docs/backup.md#audit-heads.
 */
import { Data, DateTime, Duration, Effect, Option, Schema } from "effect"
import type { AuditHeadStore } from "./AuditHeadStore.ts"
import { type AuditFault, verifyAudit } from "./AuditVerification.ts"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import type { Hashing } from "../requests/Hashing.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import type { SealedAuditLog, TreeHead } from "./SealedAuditLog.ts"

const format = "audit-log-1"

/** The first line of an export. Its leaves follow: those after the export before it. */
const Header = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.Literal(format),
    at: Schema.String,
    after: Schema.BigIntFromString,
    size: Schema.BigIntFromString,
    root: Schema.String
  })
)
const hash = /^[0-9a-f]{64}$/

/** The last line: an export without it was cut off. */
const Footer = Schema.fromJsonString(Schema.Struct({ leaves: Schema.Int }))

/** Leaves of one statement. */
const leavesAtOnce = 5_000

/** The text is not an export, or is incomplete. */
export class NotAnExport extends Data.TaggedError("NotAnExport")<{ readonly line: number }> {}

export interface AuditExport extends TreeHead {
  /** When the export began, as written in it. */
  readonly at: string
  /** The leaves have the positions after this one, up to the size. */
  readonly after: bigint
  readonly leaves: ReadonlyArray<string>
}

const decodeHeader = Schema.decodeUnknownEffect(Header)
const decodeFooter = Schema.decodeUnknownEffect(Footer)

/** Reads an export. */
export const parseExport = Effect.fnUntraced(function* (
  text: string
): Effect.fn.Return<AuditExport, NotAnExport> {
  const lines = text.split("\n")
  const leaves = lines.slice(1, -2)
  const notAt = (line: number) => () => new NotAnExport({ line: line + 1 })
  const header = yield* Effect.mapError(decodeHeader(lines[0]), notAt(0))
  const footer = yield* Effect.mapError(decodeFooter(lines.at(-2)), notAt(lines.length - 2))
  const malformed = leaves.findIndex((leaf) => !hash.test(leaf))
  if (malformed !== -1) return yield* notAt(malformed + 1)()
  const isWhole = footer.leaves === leaves.length && lines.at(-1) === ""
  if (!isWhole || BigInt(leaves.length) !== header.size - header.after) {
    return yield* notAt(lines.length - 2)()
  }
  return { ...header, leaves }
})

/**
 * Verifies the whole log, also against the export. A fault before the leaves of the export is named
 * by an earlier export.
 */
export const verifyAgainst = (
  sealed: SealedAuditLog["Service"],
  hashing: Hashing["Service"],
  { after, leaves, root, size }: AuditExport
) =>
  Effect.map(
    verifyAudit(sealed, hashing, (entry, tree): AuditFault | null => {
      const { position } = entry
      if (
        position > after &&
        position <= size &&
        leaves[Number(position - after) - 1] !== entry.hash
      ) {
        return { position, why: "kept_leaf_differs", entry }
      }
      return position === size && hexOf(tree.root()) !== root
        ? { position: after, why: "kept_head_differs", entry: null }
        : null
    }),
    (verified) => {
      const isShort = verified.fault === null && BigInt(verified.entries) < size
      if (!isShort) return verified
      const position = BigInt(verified.entries) + 1n
      return { ...verified, fault: { position, why: "missing", entry: null } as const }
    }
  )

export interface AuditExporter {
  /** Exports unless there is an export of this day. True if it did. */
  readonly exportDay: Effect.Effect<boolean, StorageUnavailable | DocumentsUnavailable>
  /** Exports every day until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Where the latest export ends; 0 if there is none, or it cannot be read. */
const exportedThrough = (store: AuditHeadStore["Service"]) =>
  Effect.flatMap(
    store.latest,
    Option.match({
      onNone: () => Effect.succeed(0n),
      onSome: ({ text }) =>
        Effect.catch(
          Effect.map(parseExport(text), ({ size }) => size),
          () => Effect.succeed(0n)
        )
    })
  )

/** Any number of processes may export: the first export of a day is kept. */
export const makeAuditExport = (
  sealed: SealedAuditLog["Service"],
  store: AuditHeadStore["Service"]
): AuditExporter => {
  const writeFrom = (at: DateTime.Utc, after: bigint, { root, size }: TreeHead) =>
    Effect.fnUntraced(function* (write: (piece: string) => void) {
      const header = {
        format,
        at: DateTime.formatIso(at),
        after: `${after}`,
        size: `${size}`,
        root
      }
      write(`${JSON.stringify(header)}\n`)
      for (let last = after; last < size;) {
        const limit = Math.min(leavesAtOnce, Number(size - last))
        const leaves = yield* sealed.leaves({ after: last, limit })
        const end = last + BigInt(limit)
        if (leaves.length < limit || leaves.at(-1)?.position !== end) {
          return yield* Effect.die(new Error("The audit log lacks a leaf: run audit verify"))
        }
        write(leaves.map(({ hash }) => `${hash}\n`).join(""))
        last = end
      }
      write(`${JSON.stringify({ leaves: Number(size - after) })}\n`)
    })

  const exportDay = Effect.gen(function* () {
    const at = yield* DateTime.now
    const name = DateTime.formatIsoDateUtc(at)
    if (yield* store.isKept(name)) return false
    const head = yield* sealed.head
    const kept = yield* exportedThrough(store)
    const after = kept <= head.size ? kept : 0n
    return yield* store.keep(name, writeFrom(at, after, head))
  })

  const reported = exportDay.pipe(
    Effect.tap((isNew) => (isNew ? Effect.logInfo("the audit log was exported") : Effect.void)),
    Effect.tapError(() => Effect.logWarning("the audit log could not be exported"))
  )
  const run = every(Duration.hours(1), "the export of the audit log met an error", reported)

  return { exportDay, run }
}
