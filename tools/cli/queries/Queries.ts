/** Commands that show the state of a migration: `summary`, `import show` and `account show`. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { accountText, type StoredAccount } from "@data-import/terminal/AccountText"
import { say } from "@data-import/terminal/Answer"
import { importText } from "@data-import/terminal/ImportText"
import { summaryText } from "@data-import/terminal/SummaryText"
import { onService } from "../connection/Connection.ts"
import { revertImport } from "../revert/Revert.ts"
import { number, supplier } from "../ImportArguments.ts"

export const summary = Command.make(
  "summary",
  {
    supplier,
    cohort: Flag.String("cohort").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Only imports of this cohort"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ cohort, supplier }) {
    const { query } = yield* DataImport
    const body = yield* query.getSupplierSummary({
      params: { import_supplier: supplier },
      query: Option.isSome(cohort) ? { cohort: cohort.value } : {}
    })
    yield* say({ ...body }, summaryText(body))
  }, onService)
).pipe(
  Command.withDescription(
    "Show what the imports of a supplier come to: how many are in each state, why they failed, " +
      "and what the balances sum up to"
  ),
  Command.withExamples([
    { command: "data-import summary ACME_LEGACY", description: "Show the whole migration" },
    {
      command: "data-import summary ACME_LEGACY --cohort wave-3 --json",
      description: "Show one cohort, for a machine"
    }
  ])
)

const showImport = Command.make(
  "show",
  {
    supplier,
    number
  },
  Effect.fnUntraced(function* ({ number, supplier }) {
    const { query } = yield* DataImport
    const params = { import_supplier: supplier, external_account_number: number }
    const body = yield* query.getImport({ params })
    yield* say({ ...body }, importText(body))
  }, onService)
).pipe(
  Command.withDescription("Show where an import stands, and why its attempts failed"),
  Command.withExamples([
    { command: "data-import import show ACME_LEGACY AL-0002", description: "Show one import" }
  ])
)

export const importCommand = Command.make("import").pipe(
  Command.withDescription("Imports of a supplier"),
  Command.withSubcommands([showImport, revertImport])
)

const showAccount = Command.make(
  "show",
  {
    number: Argument.String("number").pipe(
      Argument.withMetavar("NUMBER"),
      Argument.withDescription("The number of the account on the platform, like A-0123ABCD")
    )
  },
  Effect.fnUntraced(function* ({ number }) {
    const { accounts } = yield* DataImport
    const body = yield* accounts.getAccount({ params: { kraken_account_number: number } })
    // The account is JSON as it was sent, with the spelling of its numbers.
    const account = body as unknown as StoredAccount
    yield* say(account, accountText(account))
  }, onService)
).pipe(
  Command.withDescription("Show an account as it is stored, with what was added to it"),
  Command.withExamples([
    {
      command: "data-import account show A-0123ABCD --json",
      description: "Print the whole account"
    }
  ])
)

export const account = Command.make("account").pipe(
  Command.withDescription("Accounts on the platform"),
  Command.withSubcommands([showAccount])
)
