/** Commands about single requests: what a request did, by the id in its answer. */
import { formatInstant } from "@data-import/domain/schema/Field"
import { type AuditedRequest, AuditLog } from "@data-import/domain/audit/AuditLog"
import { recordedCode } from "@data-import/domain/suppliers/Supplier"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { type Entry, list, plain } from "@data-import/terminal/Answer"
import { asRequestId } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const members = [
  "at",
  "organisation",
  "api_key",
  "action",
  "outcome",
  "import_supplier",
  "external_account_number"
]

/** A refused request may have named anything, so control characters are removed. */
const entryOf = (entry: AuditedRequest): Entry => ({
  at: formatInstant(entry.at),
  organisation: entry.organisation,
  api_key: entry.apiKey,
  action: entry.action,
  outcome: entry.outcome,
  import_supplier: plain(entry.import_supplier && recordedCode(entry.import_supplier)),
  external_account_number: plain(entry.external_account_number)
})

const show = Command.make(
  "show",
  {
    id: Argument.String("request-id").pipe(
      Argument.withDescription("The request id, as an answer of the service had it"),
      asRequestId
    )
  },
  Effect.fnUntraced(function* ({ id }) {
    const auditLog = yield* AuditLog
    const entries = yield* auditLog.ofRequest(id)
    if (entries.length === 0) {
      return yield* new Refused({ why: `The audit log has nothing of the request ${id}.` })
    }
    yield* list(members, entries.map(entryOf))
  }, onStorage)
).pipe(
  Command.withDescription("Show what the requests with this id did; it reads the whole log"),
  Command.withExamples([
    {
      command: "operator request show 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "Show what a request did, by the id that a client told"
    }
  ])
)

export const request = Command.make("request").pipe(
  Command.withDescription("Single requests"),
  Command.withSubcommands([show])
)
