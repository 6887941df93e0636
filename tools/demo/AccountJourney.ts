/**
 * The first half of the journey: from the supplier's token through validation and staging to the
 * platform account.
 */
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Schema } from "effect"
import { get, instant, keyOf, type Known, post, type Step } from "./Step.ts"

const pausedSupplier = "DEMO_PAUSED"

const payloadOf = (known: Known) => ({ ...domesticPayload(), ...keyOf(known) })

/**
 * Breaks rules in five ways: two in the first customer, the e-mail address, a sum, and an unknown
 * field.
 */
const brokenPayloadOf = (known: Known) => {
  const { customers, ledgers, ...payload } = payloadOf(known)
  const [customer, ...others] = customers
  return {
    ...payload,
    billing_email: "astrid at example.com",
    customers: [{ ...customer, date_of_birth: "1981-02-30", landline: "0045 33" }, ...others],
    ledgers: ledgers.map((ledger) => ({ ...ledger, ledger_balance: 51 })),
    favourite_colour: "blue"
  }
}

const validate = "/v1/data-import/validate-account/"
const stage = "/v1/data-import/account-import-process/create-or-update/"
const process = "/v1/data-import/account-import-process/process/"

const statusOf = ({ demo, number }: Known) =>
  `/v1/data-import/account-transfer-status/${demo.importSupplier}/${number}/`

const importOf = ({ demo, number }: Known) =>
  `/v1/data-import/imports/${demo.importSupplier}/${number}/`

/** The oldest event of a staging of the supplier that is kept. */
const stagingsOf = ({ demo }: Known) =>
  `/v1/data-import/events/?limit=1&wait=5&import_supplier=${demo.importSupplier}` +
  "&name=data_import.import_process.staged-v1"

/** One page of a list, which begins where the account of this run is. */
const pageOf = (kind: "all" | "pending" | "imported", { demo, number }: Known) =>
  `/v1/data-import/${kind}-account-import-processes/${demo.importSupplier}/` +
  `?limit=1&after=${number.slice(0, -1)}`

const processBody = (known: Known, options: { readonly dry_run?: boolean } = {}) => ({
  payload: { ...keyOf(known), operations_team_name: known.demo.operationsTeamName, ...options },
  task_params: {}
})

const tokenRequest = (apiKey: string) => {
  const input = `{APIKey: ${JSON.stringify(apiKey)}}`
  const members = "token refreshToken refreshExpiresIn payload"
  return post("/v1/graphql/", {
    query: `mutation { obtainServiceToken(input: ${input}) { ${members} } }`
  })
}

const TokenAnswer = Schema.Struct({
  data: Schema.Struct({ obtainServiceToken: Schema.Struct({ token: Schema.String }) })
})
const tokenIn = (body: unknown): string =>
  Schema.decodeUnknownSync(TokenAnswer)(body).data.obtainServiceToken.token

const Created = Schema.Struct({ kraken_account_number: Schema.String })

const tokenAnswer = (organisation: string) => ({
  data: {
    obtainServiceToken: {
      token: /^[\w-]+\.[\w-]+\.[\w-]+$/,
      refreshToken: /^.{20,}$/,
      payload: { sub: organisation, scope: /import:write/ }
    }
  }
})

const accountNumber = /^A-[0-9A-F]{8}$/

const alreadyImported = (known: Known) => ({
  code: "account_import_process_already_imported",
  external_account_number: known.number,
  kraken_account_number: known.accountNumber
})

const opening: ReadonlyArray<Step> = [
  {
    title: "Obtain a token for the API key",
    request: ({ demo }) => tokenRequest(demo.apiKey),
    status: 200,
    body: () => tokenAnswer("demo"),
    learn: (body) => ({ token: tokenIn(body) })
  },
  {
    title: "Ask for the limits",
    request: ({ token }) => get("/v1/data-import/limits/", token),
    status: 200,
    body: () => ({ body_bytes: 10_485_760, nesting_depth: 32, list_elements: 10_000 })
  },
  {
    title: "Ask without a token",
    request: (known) => get(statusOf(known)),
    status: 401,
    body: () => ({ code: "not_authenticated" })
  }
]

const validation: ReadonlyArray<Step> = [
  {
    title: "Validate an account",
    request: (known) => post(validate, { payload: payloadOf(known) }, known.token),
    status: 200,
    body: keyOf
  },
  {
    title: "Validate a broken one: every error at once",
    request: (known) => post(validate, { payload: brokenPayloadOf(known) }, known.token),
    status: 400,
    body: () => ({
      code: "account_failed_validation",
      errors: [
        { code: "invalid_email", attr: "billing_email" },
        { code: "invalid_phone_number", attr: "customers.0.landline" },
        { code: "invalid_date", attr: "customers.0.date_of_birth" },
        { code: "balance_mismatch_on_ledger_balance", attr: "ledgers.0" },
        { code: "unknown_field", attr: "favourite_colour" },
        { code: "ledger_balances_not_equal_to_transfer_balance", attr: "non_field_errors" }
      ]
    })
  }
]

const staging: ReadonlyArray<Step> = [
  {
    title: "Ask for the status of an account that was never staged",
    request: (known) => get(statusOf(known), known.token),
    status: 404,
    body: () => ({ code: "not_found" })
  },
  {
    title: "Stage the account",
    request: (known) => post(stage, { payload: payloadOf(known) }, known.token),
    status: 201,
    body: keyOf
  },
  {
    title: "Stage it again: the data is replaced",
    request: (known) => post(stage, { payload: payloadOf(known) }, known.token),
    status: 200,
    body: keyOf
  },
  {
    title: "Ask for its status",
    request: (known) => get(statusOf(known), known.token),
    status: 200,
    body: () => ({ status: "UNKNOWN", kraken_account_number: "" })
  },
  {
    title: "Ask where the import stands, and what is staged",
    request: (known) => get(importOf(known), known.token),
    status: 200,
    body: (known) => ({
      ...keyOf(known),
      state: "PENDING",
      times_staged: 2,
      payload_hash: /^[0-9a-f]{64}$/,
      attempts: []
    })
  },
  {
    title: "Read the events of the supplier's stagings, in order and without gaps",
    request: (known) => get(stagingsOf(known), known.token),
    status: 200,
    body: ({ demo }) => ({
      events: [
        { name: "data_import.import_process.staged-v1", import_supplier: demo.importSupplier }
      ]
    })
  },
  {
    title: "List pending imports, a page of one",
    request: (known) => get(pageOf("pending", known), known.token),
    status: 200,
    body: ({ number }) => [
      { external_account_number: number, kraken_account_number: null, account_created_at: null }
    ]
  }
]

const processing: ReadonlyArray<Step> = [
  {
    title: "Process it as a dry run: it would succeed, and nothing is kept",
    request: (known) => post(process, processBody(known, { dry_run: true }), known.token),
    status: 400,
    body: () => ({ code: "dry_run_successful" })
  },
  {
    title: "Ask how its attempts ended",
    request: (known) => get(importOf(known), known.token),
    status: 200,
    body: () => ({
      state: "PENDING",
      attempts: [{ dry_run: true, outcome: "DRY_RUN_SUCCESSFUL", started_at: instant }]
    })
  },
  {
    title: "Process it under a team that does not exist",
    request: (known) => {
      const { payload, ...rest } = processBody(known)
      return post(
        process,
        { payload: { ...payload, operations_team_name: "Nobody" }, ...rest },
        known.token
      )
    },
    status: 400,
    body: () => ({
      code: "operations_team_name_does_not_exist",
      errors: [{ code: "operations_team_name_does_not_exist", attr: "operations_team_name" }]
    })
  },
  {
    title: "Process it: the account is created",
    request: (known) => post(process, processBody(known), known.token),
    status: 201,
    body: () => ({ kraken_account_number: accountNumber }),
    learn: (body) => ({
      accountNumber: Schema.decodeUnknownSync(Created)(body).kraken_account_number
    })
  },
  {
    title: "Process it again: it is imported already",
    request: (known) => post(process, processBody(known), known.token),
    status: 400,
    body: alreadyImported
  }
]

const afterwards: ReadonlyArray<Step> = [
  {
    title: "Ask for its status",
    request: (known) => get(statusOf(known), known.token),
    status: 200,
    body: (known) => ({ status: "COMPLETED", kraken_account_number: known.accountNumber })
  },
  {
    title: "List imported accounts, a page of one",
    request: (known) => get(pageOf("imported", known), known.token),
    status: 200,
    body: (known) => [
      {
        external_account_number: known.number,
        kraken_account_number: known.accountNumber,
        account_created_at: instant
      }
    ]
  },
  {
    title: "Stage it once more: an imported account is left alone",
    request: (known) => post(stage, { payload: payloadOf(known) }, known.token),
    status: 400,
    body: alreadyImported
  }
]

const refusals: ReadonlyArray<Step> = [
  {
    title: "Obtain a token for another organisation",
    request: ({ demo }) => tokenRequest(demo.rivalApiKey),
    status: 200,
    body: () => tokenAnswer("rival"),
    learn: (body) => ({ rivalToken: tokenIn(body) })
  },
  {
    title: "Ask as the other organisation: the account is not there",
    request: (known) => get(statusOf(known), known.rivalToken),
    status: 404,
    body: () => ({ code: "not_found" })
  },
  {
    title: "Stage as the other organisation: the supplier is not there",
    request: (known) => post(stage, { payload: payloadOf(known) }, known.rivalToken),
    status: 400,
    body: () => ({
      code: "account_failed_validation",
      errors: [{ code: "import_supplier_does_not_exist", attr: "import_supplier" }]
    })
  },
  {
    title: "Stage for a supplier that is paused",
    request: (known) => {
      const { notes: _, statements: __, ...payload } = payloadOf(known)
      return post(stage, { payload: { ...payload, import_supplier: pausedSupplier } }, known.token)
    },
    status: 400,
    body: () => ({ code: "import_supplier_migration_not_ongoing" })
  }
]

/** In the order in which they are walked. */
export const accountJourney: ReadonlyArray<Step> = [
  opening,
  validation,
  staging,
  processing,
  afterwards,
  refusals
].flat()
