/**
 * Exports the heads of all audit chains once a day to a place where the owner of the database
 * cannot alter them, and compares the chains with an export. The database alone cannot detect an
 * owner who rewrites a whole chain with its head. An export has neither numbers nor salts, so it
 * does not help to find an erased number. An erasure does not change the chain.
 * Source: docs/backup.md#audit-heads.
 */
import { Array, Data, DateTime, Duration, Effect, Schema } from "effect"
import type { AuditHeadStore } from "./AuditHeadStore.ts"
import type { AuditFault, AuditHead, AuditLog } from "./AuditLog.ts"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { every } from "../support/Every.ts"

/** The first line of an export; each further line is a head. */
const Header = Schema.fromJsonString(
  Schema.Struct({ format: Schema.Literal("audit-heads-1"), at: Schema.String })
)
const HeadLine = Schema.fromJsonString(
  Schema.Struct({
    chain: Schema.BigIntFromString,
    length: Schema.BigIntFromString,
    hash: Schema.String
  })
)
/** The last line: an export without it was cut off. */
const Footer = Schema.fromJsonString(Schema.Struct({ heads: Schema.Int }))

const lineOf = ({ chain, hash, length }: AuditHead): string =>
  `${JSON.stringify({ chain: String(chain), length: String(length), hash })}\n`

/** Heads of one statement. */
const headsAtOnce = 5_000

/** The text is not an export, or is incomplete. */
export class NotAnExport extends Data.TaggedError("NotAnExport")<{ readonly line: number }> {}

export interface ExportedHeads {
  /** When the export began, as written in it. */
  readonly at: string
  readonly heads: ReadonlyArray<AuditHead>
}

const decodeHeader = Schema.decodeUnknownEffect(Header)
const decodeHead = Schema.decodeUnknownEffect(HeadLine)
const decodeFooter = Schema.decodeUnknownEffect(Footer)

/** Reads an export. */
export const parseExport = Effect.fnUntraced(function* (
  text: string
): Effect.fn.Return<ExportedHeads, NotAnExport> {
  const lines = text.split("\n")
  const count = lines.length - 3
  const at =
    (line: number) =>
    <A>(decoding: Effect.Effect<A, unknown>) =>
      Effect.mapError(decoding, () => new NotAnExport({ line: line + 1 }))
  const header = yield* at(0)(decodeHeader(lines[0]))
  const footer = yield* at(count + 1)(decodeFooter(lines[count + 1]))
  if (footer.heads !== count || lines.at(-1) !== "")
    return yield* new NotAnExport({ line: count + 2 })
  const heads: Array<AuditHead> = []
  for (let line = 1; line <= count; line++) heads.push(yield* at(line)(decodeHead(lines[line])))
  return { at: header.at, heads }
})

/** The first head of the export that its chain does not have; null if there is none. */
export const verifyExport = Effect.fnUntraced(function* (
  auditLog: Pick<AuditLog["Service"], "verifyHeads">,
  { heads }: ExportedHeads
): Effect.fn.Return<AuditFault | null, StorageUnavailable> {
  for (const some of Array.chunksOf(heads, headsAtOnce)) {
    const fault = yield* auditLog.verifyHeads(some)
    if (fault !== null) return fault
  }
  return null
})

export interface AuditHeadExport {
  /** Exports the heads unless there is an export of this day. True if it did. */
  readonly exportDay: Effect.Effect<boolean, StorageUnavailable | DocumentsUnavailable>
  /** Exports every day until it is interrupted. */
  readonly run: Effect.Effect<never>
}

/** Any number of processes may export: the first export of a day is kept. */
export const makeAuditHeadExport = (
  auditLog: Pick<AuditLog["Service"], "heads">,
  store: AuditHeadStore["Service"]
): AuditHeadExport => {
  const writeFrom = (at: DateTime.Utc) =>
    Effect.fnUntraced(function* (write: (piece: string) => void) {
      write(`${JSON.stringify({ format: "audit-heads-1", at: DateTime.formatIso(at) })}\n`)
      let count = 0
      let after = 0n
      for (;;) {
        const heads = yield* auditLog.heads({ after, limit: headsAtOnce })
        write(heads.map(lineOf).join(""))
        count += heads.length
        const last = heads.at(-1)
        if (last === undefined) break
        after = last.chain
      }
      write(`${JSON.stringify({ heads: count })}\n`)
    })

  const exportDay = Effect.gen(function* () {
    const at = yield* DateTime.now
    const name = DateTime.formatIsoDateUtc(at)
    if (yield* store.isKept(name)) return false
    return yield* store.keep(name, writeFrom(at))
  })

  const reported = exportDay.pipe(
    Effect.tap((isNew) =>
      isNew ? Effect.logInfo("the heads of the audit chains were exported") : Effect.void
    ),
    Effect.tapError(() => Effect.logWarning("the heads of the audit chains could not be exported"))
  )
  const run = every(Duration.hours(1), "the export of audit heads met an error", reported)

  return { exportDay, run }
}
