/** Commands about the audit log: whether it is as it was written. */
import { readFileSync } from "node:fs"
import { unzip } from "@data-import/documents/Zipped"
import { parseExport, verifyAgainst } from "@data-import/domain/audit/AuditExport"
import { type AuditFault, verifyAudit } from "@data-import/domain/audit/AuditVerification"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layer as hashing } from "@data-import/server/Hashing"
import { recordedCode } from "@data-import/domain/suppliers/Supplier"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { inEnglish, plain, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const reasons: Readonly<Record<AuditFault["why"], string>> = {
  altered: "it is not what was written there",
  missing: "it is missing",
  beyond_head: "the head of the log ends before it",
  head_differs: "an entry up to here was altered together with its hash",
  kept_leaf_differs: "it is not what the export says: the log was written anew",
  kept_head_differs:
    "an entry up to here is not what the export says. Compare with earlier exports: one names it"
}

const supplierIn = (code: string | null | undefined): string | null =>
  code === null || code === undefined ? null : recordedCode(code)

const faultEntry = ({ entry, position, why }: AuditFault) => ({
  position: Number(position),
  id: entry === null ? null : Number(entry.id),
  organisation: entry?.organisation ?? null,
  import_supplier: supplierIn(entry?.import_supplier),
  external_account_number: entry?.external_account_number ?? null,
  why
})

const sentence = ({ entry, position, why }: AuditFault): string => {
  if (entry === null) return `Entry ${position}: ${reasons[why]}.`
  const named = [
    entry.organisation,
    supplierIn(entry.import_supplier),
    entry.external_account_number
  ]
  const whose = named.map((text) => plain(text) ?? "-").join(" ")
  return `Entry ${position} (id ${entry.id}) of ${whose}: ${reasons[why]}.`
}

const against = Flag.String("against").pipe(
  Flag.optional,
  Flag.withMetavar("file|latest"),
  Flag.withDescription(
    "Compare with an export of the log: a file, or the latest in the document store"
  )
)

/** The text of the export and its name. */
const kept = Effect.fnUntraced(function* (wanted: string) {
  if (wanted !== "latest") {
    const text = yield* Effect.try({
      try: () => unzip(readFileSync(wanted)),
      catch: () => new Refused({ why: `${wanted} cannot be read.` })
    })
    return { name: wanted, text }
  }
  const latest = yield* (yield* AuditHeadStore).latest
  if (Option.isSome(latest)) return latest.value
  return yield* new Refused({
    why: "The document store has no export of the log. AUDIT_HEADS_EXPORT makes the worker keep one."
  })
})

const exported = Effect.fnUntraced(function* (wanted: string) {
  const { name, text } = yield* kept(wanted)
  const parsed = yield* Effect.mapError(
    parseExport(text),
    ({ line }) => new Refused({ why: `${name} is no export of the log, or cut off: line ${line}.` })
  )
  return { ...parsed, name }
})

const verify = Command.make(
  "verify",
  { against },
  Effect.fnUntraced(
    function* ({ against }) {
      const sealed = yield* SealedAuditLog
      const digests = yield* Hashing
      const compared = Option.isSome(against) ? yield* exported(against.value) : null
      const { entries, fault } = yield* compared === null
        ? verifyAudit(sealed, digests)
        : verifyAgainst(sealed, digests, compared)
      const keptPart =
        compared === null
          ? {}
          : { kept: { name: compared.name, at: compared.at, entries: Number(compared.size) } }
      const read = `Read ${inEnglish(entries)} entries`
      const asKept =
        compared === null
          ? ""
          : `, and as ${plain(compared.name)} has them of ${plain(compared.at)}`
      yield* fault === null
        ? say({ entries, fault, ...keptPart }, `${read}: all are as they were written${asKept}.`)
        : say({ entries, fault: faultEntry(fault), ...keptPart }, `${read} before an altered one.`)
      if (fault !== null) return yield* new Refused({ why: sentence(fault), wasCarriedOut: true })
    },
    (work) => onStorage(Effect.provide(work, hashing))
  )
).pipe(
  Command.withDescription(
    "Read the whole audit log, and name the first entry that is not as it was written"
  ),
  Command.withExamples([
    {
      command: "operator audit verify",
      description: "Exits with 0 if all is as it was written, and 1 if not"
    },
    {
      command: "operator audit verify --against latest",
      description:
        "Finds entries that were written anew since the latest export, with all hashes, too"
    }
  ])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("The audit log"),
  Command.withSubcommands([verify])
)
