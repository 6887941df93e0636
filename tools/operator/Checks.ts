/**
 * Commands about the scheduled checks: their findings, and immediate checks.
 * Source: docs/operating.md#scheduled-checks.
 */
import {
  type CheckReport,
  makeScheduledChecks,
  type ScheduledChecks
} from "@data-import/domain/checks/ScheduledChecks"
import { recordedCode } from "@data-import/domain/suppliers/Supplier"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Checks, type OpenMismatch } from "@data-import/domain/checks/Checks"
import { formatInstant } from "@data-import/domain/schema/Field"
import { layer as hashing } from "@data-import/server/Hashing"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { Duration, Effect, References } from "effect"
import { Command } from "effect/cli"
import { inEnglish, list, plain, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const members = ["check", "import_supplier", "name", "number", "detail", "found_at"] as const

const entryOf = (found: OpenMismatch) => ({
  check: found.check,
  import_supplier: found.supplier === null ? null : plain(recordedCode(found.supplier)),
  name: plain(found.name),
  number: String(found.subject),
  detail: found.detail,
  found_at: formatInstant(found.foundAt)
})

const standing = Effect.gen(function* () {
  const found = yield* (yield* Checks).differences({ walk: null, limit: Infinity })
  return found.map(entryOf)
})

const listCommand = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    yield* list(members, yield* standing)
  }, onStorage)
).pipe(
  Command.withDescription("List the differences that were found and not seen mended"),
  Command.withExamples([
    { command: "operator check list --json", description: "List them for machines" }
  ])
)

const sentenceOf = ({ checked: count, differences }: CheckReport): string =>
  `Checked ${inEnglish(count.accounts)} accounts, ${inEnglish(count.batches)} batches and ` +
  `${inEnglish(count.audit_log)} audit entries: ${inEnglish(differences.length)} differences.`

/** As many accounts as the service checks in a minute by default. */
const slice = { accounts: 200, pause: Duration.zero }

/** Findings are listed, so they are not logged as well. */
const checked = Effect.fnUntraced(
  function* (check: (checks: ScheduledChecks) => ReturnType<ScheduledChecks["turn"]>) {
    const scheduled = makeScheduledChecks({
      accounts: yield* Accounts,
      checks: yield* Checks,
      hashing: yield* Hashing,
      sealed: yield* SealedAuditLog
    })
    return yield* check(scheduled)
  },
  Effect.provideService(References.MinimumLogLevel, "None"),
  Effect.provide(hashing)
)

/** Lists the differences after the check, and fails if it found something. */
const answered = Effect.fnUntraced(function* (report: CheckReport) {
  const found = yield* standing
  yield* found.length === 0 ? say([], sentenceOf(report)) : list(members, found)
  if (report.differences.length > 0) {
    return yield* new Refused({ why: sentenceOf(report), wasCarriedOut: true })
  }
})

const runCommand = Command.make(
  "run",
  {},
  Effect.fnUntraced(function* () {
    yield* answered(yield* checked(({ checkAll }) => checkAll))
  }, onStorage)
).pipe(
  Command.withDescription("Check everything now, and list the differences that stand"),
  Command.withExamples([
    {
      command: "operator check run",
      description: "Exits with 0 if all is well, and 1 if there is a difference"
    }
  ])
)

const nextCommand = Command.make(
  "next",
  {},
  Effect.fnUntraced(function* () {
    yield* answered(yield* checked(({ turn }) => turn(slice)))
  }, onStorage)
).pipe(
  Command.withDescription("Check the next slice now, as the query service does every few seconds"),
  Command.withExamples([{ command: "operator check next", description: "Check 200 accounts more" }])
)

export const check = Command.make("check").pipe(
  Command.withDescription("The scheduled checks of what is stored"),
  Command.withSubcommands([listCommand, runCommand, nextCommand])
)
