/**
 * Commands about control totals: what is expected of a migration, beside what has arrived.
 * Source: docs/contract/control-totals.md.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Answer } from "@data-import/client/effect"
import { DataImport } from "@data-import/client/effect"
import { inEnglish, line, plain, say, table } from "@data-import/terminal/Answer"
import { onService } from "../connection/Connection.ts"
import { supplier } from "../ImportArguments.ts"
import { jsonValue } from "../reconcile/ReconcileAnswer.ts"
import { readTotals } from "./TotalsFile.ts"

type ControlTotals = Answer<"controlTotals", "getControlTotals">

const cohort = Flag.String("cohort").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Only the accounts of this cohort"),
  Flag.optional
)

const requestOf = (supplier: string, cohort: Option.Option<string>) => ({
  params: { import_supplier: supplier },
  query: Option.isSome(cohort) ? { cohort: cohort.value } : {}
})

const columns = ["totals", "expected", "sent", "staged", "arrived", "difference"]

const totalsText = (totals: ControlTotals): string => {
  const { arrived, cohort, differences, expected, sent, staged } = totals
  const accounts = {
    totals: "accounts",
    expected: expected && inEnglish(expected.accounts),
    sent: inEnglish(sent.accounts),
    staged: inEnglish(staged.accounts),
    arrived: inEnglish(arrived.accounts),
    difference: differences && inEnglish(differences.accounts)
  }
  const none = { sent: null, staged: null }
  const balance = { totals: "balance", expected: expected?.balance ?? null, ...none }
  const codes = (differences?.ledger_balances ?? arrived.ledger_balances).map(
    ({ ledger_code }) => ledger_code
  )
  const ledgers = codes.map((code) => {
    const of = (list: ReadonlyArray<{ ledger_code: string; balance: string }> | null | undefined) =>
      list?.find(({ ledger_code }) => ledger_code === code)?.balance ?? null
    return {
      totals: plain(code),
      expected: of(expected?.ledger_balances),
      ...none,
      arrived: of(arrived.ledger_balances),
      difference: of(differences?.ledger_balances)
    }
  })
  return [
    [
      line("import_supplier", totals.import_supplier),
      line("cohort", cohort),
      line("at", totals.at),
      line("set_at", expected?.set_at ?? null)
    ].join("\n"),
    table(columns, [
      accounts,
      { ...balance, arrived: arrived.balance, difference: differences?.balance ?? null },
      ...ledgers
    ])
  ].join("\n\n")
}

const tell = (totals: ControlTotals) => say(jsonValue(totals), totalsText(totals))

const set = Command.make(
  "set",
  {
    supplier,
    file: Argument.String("file").pipe(
      Argument.withMetavar("FILE"),
      Argument.withDescription("The answer of certify --json, or a CSV (*.csv)")
    ),
    cohort
  },
  Effect.fnUntraced(function* ({ cohort, file, supplier }) {
    const payload = yield* readTotals(file, { supplier, cohort: Option.getOrNull(cohort) })
    const { controlTotals } = yield* DataImport
    yield* tell(yield* controlTotals.setControlTotals({ ...requestOf(supplier, cohort), payload }))
  }, onService)
).pipe(
  Command.withDescription(
    "Enter what is expected of a supplier, or of a cohort of it, in place of what was entered " +
      "before. A CSV has the columns ledger_code, accounts and balance; its row without a " +
      "ledger_code is of all accounts. The API key needs account:read."
  ),
  Command.withExamples([
    {
      command: "data-import totals set ACME_LEGACY sums.json",
      description: "Expect what certify --json computed from the book"
    },
    {
      command: "data-import totals set ACME_LEGACY wave-3.csv --cohort wave-3",
      description: "Expect what was written by hand"
    }
  ])
)

const show = Command.make(
  "show",
  { supplier, cohort },
  Effect.fnUntraced(function* ({ cohort, supplier }) {
    const { controlTotals } = yield* DataImport
    yield* tell(yield* controlTotals.getControlTotals(requestOf(supplier, cohort)))
  }, onService)
).pipe(
  Command.withDescription("Show what is expected, was sent, is staged, and has arrived"),
  Command.withExamples([
    { command: "data-import totals show ACME_LEGACY", description: "Show the whole migration" }
  ])
)

const remove = Command.make(
  "remove",
  { supplier, cohort },
  Effect.fnUntraced(function* ({ cohort, supplier }) {
    const { controlTotals } = yield* DataImport
    const request = { ...requestOf(supplier, cohort), payload: {} }
    yield* tell(yield* controlTotals.setControlTotals(request))
  }, onService)
).pipe(
  Command.withDescription("Expect nothing any more"),
  Command.withExamples([
    {
      command: "data-import totals remove ACME_LEGACY --cohort wave-3",
      description: "Remove those of a cohort"
    }
  ])
)

export const totals = Command.make("totals").pipe(
  Command.withDescription("Control totals: what is expected of a migration"),
  Command.withSubcommands([set, show, remove])
)
