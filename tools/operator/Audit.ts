/** Commands about the audit log: whether it is as it was written. */
import { recordedCode } from "@data-import/domain/organisation/Supplier"
import { type AuditFault, AuditLog } from "@data-import/domain/ports/AuditLog"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { inEnglish, plain, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const reasons: Readonly<Record<AuditFault["why"], string>> = {
  altered: "it is not what was written there",
  missing: "it is missing",
  beyond_head: "the head of the chain ends before it",
  head_differs: "it is the last, and the head of the chain says otherwise",
  head_missing: "its chain has no head",
  former_head_differs: "up to it, the former head of the chain says otherwise"
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

const verify = Command.make(
  "verify",
  {},
  Effect.fnUntraced(function* () {
    const history = yield* AuditLog
    const { chains, entries, fault } = yield* history.verifyAudit
    const read = `Read ${inEnglish(entries)} entries in ${inEnglish(chains)} chains`
    yield* fault === null
      ? say({ chains, entries, fault }, `${read}: all are as they were written.`)
      : say({ chains, entries, fault: faultEntry(fault) }, `${read} before an altered one.`)
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
    }
  ])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("The audit log"),
  Command.withSubcommands([verify])
)
