/** The fixed cases of reverts: imports in every state, and requests that began before one. */
import { isWire, type Wire } from "@data-import/domain/testing/wire"
import { team } from "@data-import/testbed/Tenants"
import { type Plan, plan, post, type Reply, type Request, type Step } from "./Case.ts"
import { operation } from "./Document.ts"
import { answers, both, errors, has } from "./Expectation.ts"
import { importPath, smallAccount } from "./Steps.ts"
import {
  erased,
  held,
  imported,
  processPath,
  skipped,
  staged,
  stagePath,
  supplier
} from "./TenantNames.ts"
import { validBody } from "./ValidRequests.ts"

const id = "revertImport"

const reverting = (of: string, number: string, account: string, more: Wire = {}): Request =>
  post(`${importPath(of, number)}revert/`, {
    payload: { kraken_account_number: account, reason: "Wrong sign", ...more }
  })

const inStates: ReadonlyArray<Plan> = [
  [supplier, erased, "400 account_import_process_erased"],
  [supplier, held, "400 account_import_process_in_progress"],
  [supplier, skipped, "400 account_import_process_not_imported"],
  [supplier, staged, "400 account_import_process_not_imported"],
  [supplier, "nothing is staged for this", "404 not_found"]
].map(([of = "", number = "", expected = ""]) =>
  plan(id, "state", `${number} of ${of}: ${expected}`, [
    reverting(of, number, "A-00000000"),
    answers(expected)
  ])
)

const accountIn = ({ value }: Reply): string =>
  isWire(value) ? String(value["kraken_account_number"]) : ""

const keyed = (request: Request, key: string): Request => ({
  ...request,
  headers: [...request.headers, ["idempotency-key", key]]
})

/** Imports a new account under a key; then the steps, given its number. */
const onNewAccount = (
  name: string,
  then: (account: Wire, number: string, processing: Request) => ReadonlyArray<Step>
): Plan => ({
  operation: id,
  kind: "state",
  name,
  steps: (mark) => {
    const account = smallAccount(mark)
    const { external_account_number, import_supplier } = account
    const payload = { import_supplier, external_account_number, operations_team_name: team }
    const processing = keyed(post(processPath, { payload }), `${mark}.process`)
    return [
      { request: post(stagePath, { payload: account }), expect: answers("201") },
      {
        request: processing,
        expect: answers("201"),
        next: (reply) => then(account, accountIn(reply), processing)
      }
    ]
  }
})

const revertOf = ({ external_account_number }: Wire, number: string, more: Wire = {}): Request =>
  reverting(supplier, String(external_account_number), number, more)

const once = onNewAccount("an account, twice", (account, number, processing) => [
  {
    request: revertOf(account, number, { dry_run: true }),
    expect: both(answers("200"), has("state", "IMPORTED"))
  },
  { request: revertOf(account, number), expect: both(answers("200"), has("state", "PENDING")) },
  { request: revertOf(account, number), expect: both(answers("200"), has("revert", null)) },
  { request: processing, expect: answers("409 account_reverted") }
])

/** What is added under a key is not added again to an account that was reverted. */
const additions: ReadonlyArray<Plan> = (
  [
    ["createNotes", { notes: [{ body: "B" }] }],
    ["createTransactions", {}],
    ["createHistoricalStatements", {}],
    ["createPaymentInstruction", {}]
  ] as ReadonlyArray<readonly [string, Wire]>
).map(([name, more]) =>
  onNewAccount(`an account with additions of ${name}`, (account, number) => {
    const { external_account_number, import_supplier } = account
    const key = { import_supplier, external_account_number }
    const body = { ...validBody(name), ...key, ...more }
    const adding = keyed(
      post(operation(name).template, body),
      `${String(external_account_number)}.${name}`
    )
    return [
      { request: adding, expect: answers("201") },
      { request: revertOf(account, number), expect: answers("409 account_has_additions") },
      { request: revertOf(account, number, { with_additions: true }), expect: answers("200") },
      { request: adding, expect: answers("409 account_reverted") }
    ]
  })
)

const { payload: sample } = validBody("stageAccount")

const correction = {
  ...(sample as Wire),
  external_account_number: imported[0],
  billing_name: "Corrected"
}

export const revertPlans: ReadonlyArray<Plan> = [
  plan("stageAccount", "state", "an imported account that differs", [
    post(stagePath, { payload: correction }),
    errors("400 account_import_process_already_imported", "billing_name import_process_differs")
  ]),
  ...inStates,
  once,
  ...additions
]
