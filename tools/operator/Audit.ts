/** Commands about the audit log: whether it is as it was written. */
import { readFileSync } from "node:fs"
import { unzip } from "@data-import/documents/Zipped"
import { parseExport, verifyExport } from "@data-import/domain/audit/AuditHeads"
import { recordedCode } from "@data-import/domain/suppliers/Supplier"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { type AuditFault, AuditLog } from "@data-import/domain/audit/AuditLog"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { inEnglish, plain, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const reasons: Readonly<Record<AuditFault["why"], string>> = {
  altered: "it is not what was written there",
  missing: "it is missing",
  beyond_head: "the head of the chain ends before it",
  head_differs: "it is the last, and the head of the chain says otherwise",
  head_missing: "its chain has no head",
  kept_head_differs: "it is not what the kept heads say: the chain was written anew"
}

const supplierIn = ({ import_supplier }: AuditFault): string | null =>
  import_supplier === null ? null : recordedCode(import_supplier)

const faultEntry = (fault: AuditFault) => ({
  organisation: fault.organisation,
  import_supplier: supplierIn(fault),
  external_account_number: fault.external_account_number,
  position: Number(fault.position),
  id: fault.id === null ? null : Number(fault.id),
  why: fault.why
})

const sentence = (fault: AuditFault): string => {
  const named = [supplierIn(fault), fault.external_account_number].map((text) => plain(text) ?? "-")
  const id = fault.id === null ? "" : ` (id ${fault.id})`
  return (
    `Entry ${fault.position}${id} of ${plain(fault.organisation)} ${named.join(" ")}: ` +
    `${reasons[fault.why]}.`
  )
}

const against = Flag.String("against").pipe(
  Flag.optional,
  Flag.withMetavar("file|latest"),
  Flag.withDescription(
    "Compare with an export of heads: a file, or the latest in the document store"
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
    why: "The document store has no export of heads. AUDIT_HEADS_EXPORT makes the worker keep one."
  })
})

/** The first kept head that no longer exists, and a summary of the others. */
const compared = Effect.fnUntraced(function* (wanted: string) {
  const { name, text } = yield* kept(wanted)
  const exported = yield* Effect.mapError(
    parseExport(text),
    ({ line }) => new Refused({ why: `${name} is no export of heads, or cut off: line ${line}.` })
  )
  const fault = yield* verifyExport(yield* AuditLog, exported)
  return { fault, kept: { name, at: exported.at, heads: exported.heads.length } }
})

/** Says that the heads of an export still exist. */
const asKept = (comparison: Effect.Success<ReturnType<typeof compared>> | null): string => {
  if (comparison === null) return ""
  const { at, heads, name } = comparison.kept
  return `, and as ${plain(name)} has their ${inEnglish(heads)} heads of ${plain(at)}`
}

const verify = Command.make(
  "verify",
  { against },
  Effect.fnUntraced(function* ({ against }) {
    const history = yield* AuditLog
    const verified = yield* history.verifyAudit
    const { chains, entries } = verified
    const isCompared = verified.fault === null && Option.isSome(against)
    const comparison = isCompared ? yield* compared(against.value) : null
    const fault = verified.fault ?? comparison?.fault ?? null
    const read = `Read ${inEnglish(entries)} entries in ${inEnglish(chains)} chains`
    const heads = comparison === null ? {} : { kept: comparison.kept }
    const whole = `${read}: all are as they were written${asKept(comparison)}.`
    yield* fault === null
      ? say({ chains, entries, fault, ...heads }, whole)
      : say(
          { chains, entries, fault: faultEntry(fault), ...heads },
          `${read} before an altered one.`
        )
    if (fault !== null) return yield* new Refused({ why: sentence(fault), wasCarriedOut: true })
  }, onStorage)
).pipe(
  Command.withDescription(
    "Follow every chain of the audit log, and name the first entry that is not as it was written"
  ),
  Command.withExamples([
    {
      command: "operator audit verify",
      description: "Exits with 0 if all is as it was written, and 1 if not"
    },
    {
      command: "operator audit verify --against latest",
      description: "Finds a chain that was rewritten whole since the latest export of heads, too"
    }
  ])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("The audit log"),
  Command.withSubcommands([verify])
)
