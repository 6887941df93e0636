/**
 * The summary of a supplier's imports, as the query answers it.
 * Source: docs/contract/queries.md#summary.
 */
import { Schema } from "effect"
import { codesInSummary, examplesOfCode } from "@data-import/domain/migrations/SupplierSummary"
import { InstantText, SumText } from "./DecimalSchema.ts"
import { sampleKey } from "./Examples.ts"

const count = (description: string) => Schema.Int.annotateKey({ description })

export const StateCounts = Schema.Struct({
  PENDING: count("No attempt was made since it was staged."),
  FAILED: count("The latest attempt failed or broke off, and nothing was staged since."),
  IN_PROGRESS: count("An attempt is running."),
  SKIPPED: count("The operator has marked it."),
  IMPORTED: count("The account exists."),
  ERASED: count("The operator has erased its data.")
}).annotate({ identifier: "StateCounts", description: "How many imports are in each state." })

const OldestPending = Schema.Struct({
  external_account_number: Schema.String.annotate({
    description: "The account number at the supplier, as staged."
  }),
  staged_at: InstantText.annotateKey({ description: "When it was staged last." })
}).annotate({ identifier: "OldestPending", description: "An import that waits to be processed." })

const FrequentCode = Schema.Struct({
  code: Schema.String.annotate({ description: "What the list of imports takes as `code`." }),
  imports: count("How many failed imports have it."),
  examples: Schema.Array(Schema.String).annotate({
    description: `The external account numbers of some of them, at most ${examplesOfCode}.`
  })
}).annotate({ identifier: "FrequentCode", description: "An error and how often it occurs." })

const LedgerSum = Schema.Struct({
  ledger_code: Schema.String.annotate({ description: "The ledger's code." }),
  ledgers: count("How many accounts have such a ledger."),
  balance: SumText.annotateKey({ description: "The sum of their balances, as imported." })
}).annotate({ identifier: "LedgerSum", description: "The ledgers of one code." })

export const SummaryBody = Schema.Struct({
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  cohort: Schema.NullOr(Schema.String).annotate({
    description: "The cohort that was asked for; null for all imports of the supplier."
  }),
  at: InstantText.annotateKey({ description: "The instant of the summary." }),
  total: count("All imports: the sum of `states`."),
  states: StateCounts,
  reverted: count("Accounts that were reverted, which are no imports of their own."),
  lines_refused: count(
    "Lines of ended batches that were refused, and whose account was not staged since. They are " +
      "no imports, and are not in `total`."
  ),
  accounts_expected: Schema.NullOr(Schema.Int).annotateKey({
    description: "The accounts of the control totals; null if none were entered."
  }),
  accounts_missing: count(
    "Accounts that are expected, by the control totals of the supplier and of its cohorts, and are " +
      "neither imports nor in `lines_refused`. Lines of unfinished batches count once they are staged."
  ),
  accounts_unexpected: count("Imports beyond the expected number."),
  imported_last_hour: count("Accounts that were created since the minute of one hour ago."),
  oldest_pending: Schema.NullOr(OldestPending).annotate({
    description:
      "Of the imports in the state PENDING the one that was staged first before all others."
  }),
  codes: Schema.Array(FrequentCode).annotate({
    description: `The ${codesInSummary} most frequent codes of failed imports, the most frequent first.`
  }),
  documents_missing: count(
    "Failed imports whose latest attempt found that a document is not in the store."
  ),
  balance: SumText.annotateKey({
    description: "The sum of the balances of all accounts, with what was added after the import."
  }),
  ledger_balances: Schema.Array(LedgerSum).annotate({
    description: "By ledger, in the order of the codes, without what was added after the import."
  })
}).annotate({
  identifier: "SupplierSummary",
  description: "What the imports of a supplier come to."
})

export const exampleSummary = {
  import_supplier: sampleKey.import_supplier,
  cohort: null,
  at: "2025-04-18T09:00:12Z",
  total: 120_000,
  states: {
    PENDING: 41_200,
    FAILED: 317,
    IN_PROGRESS: 8,
    SKIPPED: 12,
    IMPORTED: 78_463,
    ERASED: 0
  },
  reverted: 0,
  lines_refused: 222,
  accounts_expected: 120_300,
  accounts_missing: 78,
  accounts_unexpected: 0,
  imported_last_hour: 12_904,
  oldest_pending: {
    external_account_number: "NL-0004712",
    staged_at: "2025-04-17T20:55:02Z"
  },
  codes: [
    { code: "account_failed_validation", imports: 317, examples: ["NL-0000112", "NL-0000391"] },
    { code: "path_does_not_exist_in_file_store", imports: 201, examples: ["NL-0000391"] }
  ],
  documents_missing: 201,
  balance: "-1204518.36",
  ledger_balances: [
    { ledger_code: "ELECTRICITY_LEDGER", ledgers: 78_463, balance: "-981022.10" },
    { ledger_code: "GAS_LEDGER", ledgers: 40_118, balance: "-223496.26" }
  ]
}
