/**
 * Control totals: what is expected of a migration, beside what was sent and what has arrived.
 * Source: docs/contract/control-totals.md.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ControlTotalsRequest, ExpectedTotals } from "@data-import/domain/migrations/ControlTotals"
import { requires } from "./Authorization.ts"
import { ExpectedLedgerBody, expectedWords } from "./CertificateBody.ts"
import { InstantText, SumText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"
import { anyBody, anyProtected, errorBodies } from "./ErrorBody.ts"
import { sampleKey } from "./Examples.ts"
import { operation, type ParameterDocs } from "./Operation.ts"
import { textUpTo } from "./Parameter.ts"
import { supplier } from "./PathParameter.ts"

const cohortLength = 64

const count = (description: string) => Schema.Int.annotateKey({ description })

const RequestBody = documented(
  "ControlTotalsRequest",
  "What is expected from now on.",
  ControlTotalsRequest,
  { expected: "The control totals; nothing is expected without them." },
  {
    expected: documented(
      "ExpectedTotals",
      "Control totals. A member that is omitted is not compared.",
      ExpectedTotals,
      {
        accounts: "How many accounts.",
        balance: { description: "The sum of their balances as imported.", wire: SumText },
        ledger_balances:
          "By ledger, at most 100. They need not add up to the balance, since accounts may have none."
      },
      { ledger_balances: ExpectedLedgerBody }
    )
  }
)

const Nullable = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description })

const EnteredBody = Schema.Struct({
  accounts: count(expectedWords.accounts),
  balance: Nullable(SumText, expectedWords.balance.description),
  ledger_balances: Nullable(Schema.Array(ExpectedLedgerBody), expectedWords.ledger_balances),
  set_by: Schema.Literals(["client", "manager"]).annotate({
    description: "Whether an API key or a user of the board has entered them."
  }),
  set_at: InstantText.annotateKey({ description: "When they were entered." })
}).annotate({ identifier: "EnteredTotals", description: "What is expected." })

const SentBody = Schema.Struct({ accounts: count("How many accounts.") }).annotate({
  identifier: "SentTotals",
  description: "Accounts that were staged, whatever became of them."
})

const StagedBody = Schema.Struct({
  accounts: count("How many accounts."),
  failed: count("Of them those whose latest attempt failed.")
}).annotate({
  identifier: "StagedTotals",
  description: "Of the accounts that were sent those that wait, failed or are being imported."
})

const ArrivedBody = Schema.Struct({
  accounts: count("Accounts that were imported, including those that were erased since."),
  balance: SumText.annotateKey({ description: "The sum of their balances as imported." }),
  ledger_balances: Schema.Array(
    Schema.Struct({
      ledger_code: Schema.String.annotate({ description: "The ledger's code." }),
      ledgers: count("How many accounts have such a ledger."),
      balance: SumText.annotateKey({ description: "The sum of their balances as imported." })
    }).annotate({ identifier: "ArrivedLedger", description: "The ledgers of one code." })
  ).annotate({ description: "By ledger, in the order of the codes." })
}).annotate({ identifier: "ArrivedTotals", description: "What was imported." })

const DifferencesBody = Schema.Struct({
  accounts: Schema.Int.annotateKey({ description: "Of the accounts." }),
  balance: Nullable(SumText, "Of the balances; null if none is expected."),
  ledger_balances: Nullable(
    Schema.Array(ExpectedLedgerBody),
    "Of all ledgers that are expected or have arrived; null if none are expected."
  )
}).annotate({ identifier: "TotalsDifferences", description: "Arrived less expected." })

/** As the board answers it, too. */
export const ControlTotalsBody = Schema.Struct({
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  cohort: Nullable(Schema.String, "The cohort; null for all accounts of the supplier."),
  at: InstantText.annotateKey({ description: "The instant of the counts." }),
  expected: Nullable(EnteredBody, "What is expected; null if nothing was entered."),
  sent: SentBody,
  staged: StagedBody,
  arrived: ArrivedBody,
  differences: Nullable(
    DifferencesBody,
    "What has arrived less what is expected; null if nothing is expected."
  )
}).annotate({ identifier: "ControlTotals", description: "What is expected, and what there is." })

const controlTotalsRequest = {
  expected: {
    accounts: 187,
    balance: "-1204.36",
    ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "-981.10" }]
  }
}

const example: typeof ControlTotalsBody.Type = {
  import_supplier: sampleKey.import_supplier,
  cohort: "wave-3",
  at: "2026-11-30T08:00:00Z",
  expected: { ...controlTotalsRequest.expected, set_by: "client", set_at: "2026-11-29T16:00:00Z" },
  sent: { accounts: 186 },
  staged: { accounts: 1, failed: 1 },
  arrived: {
    accounts: 185,
    balance: "-1180.36",
    ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 185, balance: "-981.10" }]
  },
  differences: {
    accounts: -2,
    balance: "24.00",
    ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "0.00" }]
  }
}

const path = "/v1/data-import/control-totals/:import_supplier/"
const params = { import_supplier: Schema.String }
const query = Schema.Struct({ cohort: Schema.optionalKey(textUpTo(cohortLength)) })

const cohort: ParameterDocs = {
  description: "Only the accounts of this cohort.",
  schema: { type: "string", minLength: 1, maxLength: cohortLength },
  example: "wave-3"
}
const parameters = { import_supplier: supplier, cohort }
const answers = { 200: { short: { summary: "Two accounts have not arrived", value: example } } }

const setControlTotals = HttpApiEndpoint.put("setControlTotals", path, {
  params,
  query,
  payload: RequestBody,
  success: ControlTotalsBody,
  error: errorBodies([
    "request_failed_validation",
    "import_supplier_migration_not_ongoing",
    "not_found",
    ...anyBody,
    ...anyProtected
  ])
})
  .annotateMerge(
    operation(
      "Set control totals",
      "Enters what is expected of the supplier, or of a cohort of it, in place of what was entered " +
        "before, and compares it. The same totals again change nothing. Also needs the scope " +
        "`account:read`, since the answer has balances.",
      {
        parameters,
        requests: {
          totals: { summary: "Accounts and balances", value: controlTotalsRequest },
          none: { summary: "Remove them", value: {} }
        },
        answers
      }
    )
  )
  .pipe(requires("import:write"))

const getControlTotals = HttpApiEndpoint.get("getControlTotals", path, {
  params,
  query,
  success: ControlTotalsBody,
  error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
})
  .annotateMerge(
    operation(
      "Get control totals",
      "What is expected of the supplier, or of a cohort of it, what was sent, what is staged, and " +
        "what has arrived.",
      { parameters, answers }
    )
  )
  .pipe(requires("account:read"))

/** What the batches service serves besides batches and certificates. */
export const ControlTotalsGroup = HttpApiGroup.make("controlTotals", { topLevel: true })
  .add(setControlTotals, getControlTotals)
  .annotateMerge(
    OpenApi.annotations({
      title: "Control totals",
      description: "What is expected of a migration, beside what was sent and what has arrived."
    })
  )
