/**
 * The fixed cases of stored state: accounts, suppliers, vendors and idempotency keys in every state
 * in which a request can find them.
 */
import { accountPlans } from "./AccountPlans.ts"
import { drop, objectsAt, put, type Wire } from "@data-import/domain/testing/wire"
import { type Expectation, type Plan, plan, post, type Reply, type Request } from "./Case.ts"
import { operation, tokenPath } from "./Document.ts"
import { answers, both, errors, has } from "./Expectation.ts"
import { heldBody, heldKey, writes as keyedWrites } from "./HeldKeys.ts"
import { queryPlans } from "./QueryPlans.ts"
import { importPath, importSteps, smallAccount } from "./Steps.ts"
import {
  absentVendor,
  checkedSupplier,
  completeSupplier,
  erased,
  fullSupplier,
  held,
  imported,
  pausedSupplier,
  skipped,
  staged,
  stagePath,
  supplier
} from "./TenantNames.ts"
import { pathOf, posts, validBody } from "./ValidRequests.ts"

const altered = (id: string, changes: Wire): Request => {
  const valid = validBody(id)
  const at = Object.hasOwn(valid, "payload") ? "payload." : ""
  const body = Object.entries(changes).reduce(
    (before, [name, value]) => put(before, `${at}${name}`, value),
    valid
  )
  return post(pathOf(operation(id)), body)
}

const state = (id: string, name: string, changes: Wire, ...expected: ReadonlyArray<Expectation>) =>
  plan(id, "state", name, [altered(id, changes), both(...expected)])

const notOngoing = "400 import_supplier_migration_not_ongoing"

const importing: ReadonlyArray<Plan> = ["stageAccount", "processAccount"].flatMap((id) => [
  state(
    id,
    "an imported account",
    { external_account_number: imported[0] },
    answers("400 account_import_process_already_imported"),
    has("external_account_number", imported[0])
  ),
  state(
    id,
    "a skipped account",
    { external_account_number: skipped },
    answers("400 account_import_process_skipped")
  ),
  state(
    id,
    "an account in progress",
    { external_account_number: held },
    answers("400 account_import_process_in_progress")
  )
])

const isErased = "400 account_import_process_erased"

const afterErasure: ReadonlyArray<Plan> = [
  "stageAccount",
  "processAccount",
  "createNotes",
  "createTransactions",
  "createHistoricalStatements",
  "createPaymentInstruction"
].map((id) =>
  state(id, "an erased account", { external_account_number: erased }, answers(isErased))
)

const differing = plan("stageAccount", "state", "another payload with create_only", [
  {
    ...altered("stageAccount", {
      external_account_number: staged,
      billing_name: "Nobody stages this"
    }),
    path: `${stagePath}?create_only=true`
  },
  answers("409 import_process_differs")
])

const changing: ReadonlyArray<Plan> = [
  [supplier, staged, "200"],
  [supplier, skipped, "400 account_import_process_skipped"],
  [supplier, held, "400 account_import_process_in_progress"],
  [supplier, erased, isErased],
  [supplier, imported[0] ?? "", "400 account_import_process_already_imported"],
  [supplier, "nothing is staged for this", "404 not_found"],
  [pausedSupplier, staged, notOngoing]
].map(([of = "", number = "", expected = ""]) =>
  plan("changeImport", "state", `${number} of ${of}: ${expected}`, [
    { ...post(importPath(of, number), { cohort: "wave-5" }), method: "PATCH" },
    answers(expected)
  ])
)

const processing: ReadonlyArray<Plan> = [
  state(
    "processAccount",
    "nothing staged",
    { external_account_number: "nothing is staged for this" },
    answers("400 import_process_does_not_exist")
  ),
  state(
    "processAccount",
    "an unknown team",
    { external_account_number: staged, operations_team_name: "Nobody" },
    errors(
      "400 operations_team_name_does_not_exist",
      "operations_team_name operations_team_name_does_not_exist"
    )
  ),
  state(
    "processAccount",
    "a supplier that is at its limit",
    { import_supplier: fullSupplier, external_account_number: staged },
    answers("429 concurrency_limit_exceeded")
  ),
  state("processAccount", "a dry run", { dry_run: true }, answers("400 dry_run_successful"))
]

const writes = posts
  .map(({ id }) => id)
  .filter((id) => !/^validate|^obtain|^revert|Batch$|Certificate$/.test(id))

/**
 * Bodies without documents, because documents are looked up before the supplier's status is
 * checked.
 */
const withoutDocuments: Readonly<Record<string, Wire>> = {
  stageAccount: { notes: [], statements: [] },
  createNotes: { notes: [{ body: "B" }] },
  createHistoricalStatements: {
    statements: objectsAt(validBody("createHistoricalStatements"), "statements").map((statement) =>
      drop(statement, "statement_path")
    )
  }
}

const suppliersThatWait: ReadonlyArray<Plan> = writes.flatMap((id) =>
  [pausedSupplier, completeSupplier].map((of) =>
    state(
      id,
      `a supplier that is not ongoing, ${of}`,
      { import_supplier: of, ...withoutDocuments[id] },
      answers(notOngoing)
    )
  )
)

const ofRivals: ReadonlyArray<Plan> = [
  ...writes,
  "validateAccount",
  "createBatch",
  "issueCertificate"
].map((id) => {
  const envelope = /Account$/.test(id) ? "account" : "request"
  return plan(id, "who", "a rival", [
    { ...altered(id, {}), who: "rival" },
    errors(`400 ${envelope}_failed_validation`, "import_supplier import_supplier_does_not_exist")
  ])
})

const missingDocument = state(
  "validateAccount",
  "a document that is not in the store",
  { import_supplier: checkedSupplier, notes: [], "statements.0.statement_path": "nowhere.pdf" },
  errors(
    "400 account_failed_validation",
    "statements.0.statement_path path_does_not_exist_in_file_store"
  )
)

const additions = ["createNotes", "createTransactions", "createHistoricalStatements"]

const notImported: ReadonlyArray<Plan> = additions.flatMap((id) =>
  [staged, skipped, held, "nothing is staged for this"].map((number) =>
    state(
      id,
      `an account that is not imported, ${number}`,
      { external_account_number: number },
      answers("404 not_found")
    )
  )
)

const transactions = objectsAt(validBody("createTransactions"), "transactions")

const unforced: Request = {
  ...altered("createTransactions", {
    "transactions.0.transaction_date": "2025-02-28",
    "transactions.0.transaction_id": "a transaction that is not there yet"
  }),
  path: `${operation("createTransactions").template}?force_add_to_current_statement=false`
}

/** What differs from the payload with which the account was imported is refused. */
const failing = (id: string, changes: Wire): Request => ({
  ...altered(id, changes),
  path: `${operation(id).template}?on_difference=fail`
})

/** A note of that payload, with an end of its pin. */
const knownNote = {
  body: "Account migrated in wave 3; check first bill.",
  unpin_at: "2099-01-01T00:00:00Z"
}

const adding: ReadonlyArray<Plan> = [
  ...additions.map((id) => {
    const list = Object.keys(validBody(id)).at(-1) ?? ""
    return state(
      id,
      "an empty list",
      { [list]: [] },
      errors("400 request_failed_validation", `${list} empty`)
    )
  }),
  state(
    "createTransactions",
    "an id twice",
    { transactions: [transactions[0], transactions[0]] },
    answers("400 duplicate_transaction_ids"),
    has("status", "TRANSACTION_IMPORT_ERROR")
  ),
  plan("createTransactions", "state", "outside the period", [
    unforced,
    answers("400 transaction_outside_open_period")
  ]),
  plan("createTransactions", "state", "an id that is known otherwise", [
    failing("createTransactions", { "transactions.0.transaction_id": "NL-T-1001" }),
    answers("400 transaction_differs")
  ]),
  plan("createNotes", "state", "a note that is known otherwise", [
    failing("createNotes", { notes: [knownNote] }),
    errors("400 request_failed_validation", "notes.0 note_differs")
  ]),
  state(
    "createHistoricalStatements",
    "a statement that is known otherwise",
    { "statements.0.statement_id": "NL-S-2025-01" },
    errors("400 request_failed_validation", "statements.0 historical_statement_already_exists")
  )
]

const instructionOn = (name: string, number: string, outcome: string): Plan =>
  state("createPaymentInstruction", name, { external_account_number: number }, answers(outcome))

interface Instruction {
  readonly vendor: string
  readonly reference: string
  readonly type: string
}

/** On a new account, one instruction after the other. */
const onNewAccount = (
  name: string,
  ...instructions: ReadonlyArray<readonly [Instruction, Expectation]>
): Plan => ({
  operation: "createPaymentInstruction",
  kind: "state",
  name,
  steps: (mark) => {
    const account = smallAccount(mark)
    const { external_account_number, import_supplier } = account
    const { template } = operation("createPaymentInstruction")
    const key = { import_supplier, external_account_number }
    return [
      ...importSteps(account),
      ...instructions.map(([instruction, expect]) => ({
        request: post(template, { ...key, ...instruction }),
        expect
      }))
    ]
  }
})

const card = (reference: string): Instruction => ({ vendor: "STRIPE", reference, type: "CARD" })

const debit = (reference: string): Instruction => ({
  vendor: "GOCARDLESS",
  reference,
  type: "DIRECT_DEBIT"
})

const away = answers("500 payment_vendor_unavailable")

const instructions: ReadonlyArray<Plan> = [
  instructionOn(
    "nothing staged",
    "nothing is staged for this",
    "400 import_process_does_not_exist"
  ),
  instructionOn("not imported", staged, "400 account_not_found"),
  onNewAccount(
    "another one",
    [card("pm_1"), answers("201")],
    [card("pm_2"), answers("400 active_payment_instruction_exists")]
  ),
  onNewAccount("a card that nobody has", [
    card("missing"),
    answers("400 payment_instruction_rejected_by_vendor")
  ]),
  onNewAccount("a vendor that nobody can ask", [
    { ...card("pm_1"), vendor: absentVendor },
    answers("400 payment_vendor_unreachable")
  ]),
  onNewAccount("a card vendor that is down", [card("down"), away]),
  onNewAccount("a card vendor that is slow", [card("slow"), away]),
  onNewAccount("a debit vendor that is down", [debit("down"), away])
]

const attempt = (key: string): Request =>
  post(
    tokenPath,
    { query: `mutation { obtainServiceToken(input: { APIKey: "${key}" }) { token } }` },
    "nobody"
  )

const errorCode = (code: string) => both(answers("200"), has("errors.0.extensions.errorCode", code))

const expectation =
  (sentence: string, holds: (reply: Reply) => boolean): Expectation =>
  (replies) =>
    replies.every(holds) ? [] : [sentence]

const isFresh = expectation(
  "the answer is marked as replayed",
  ({ headers }) => headers["idempotency-replayed"] === undefined
)

const asksToWait = expectation("there is no Retry-After", ({ headers }) =>
  /^[1-9]\d*$/.test(headers["retry-after"] ?? "")
)

/** Requests with a key that another request holds for longer than any run takes. */
const heldKeys: ReadonlyArray<Plan> = keyedWrites.flatMap((id) => {
  const path = pathOf(operation(id))
  const one = (name: string, sent: Request, expect: Expectation) => {
    const headers = [...sent.headers, ["idempotency-key", heldKey(id)] as const]
    return plan(id, "state", name, [{ ...sent, headers }, both(expect, isFresh)])
  }
  const other = operation(id).body === null ? post(`${path}?`, "") : post(path, validBody(id))
  return [
    one(
      "a key in use",
      post(path, heldBody(id)),
      both(answers("409 idempotency_key_in_use"), asksToWait)
    ),
    one("a key in use by another request", other, answers("422 idempotency_key_reused"))
  ]
})

/** More wrong keys from one address than are allowed. */
const throttled: Plan = {
  operation: "obtainServiceToken",
  kind: "state",
  name: "more wrong keys than an address may try",
  steps: () => [
    ...Array.from({ length: 20 }, (_, index) => ({
      request: attempt(`sk_${index}`),
      expect: errorCode("INVALID_API_KEY")
    })),
    { request: attempt("sk_x"), expect: errorCode("THROTTLED") }
  ]
}

/** Nobody knows what it asks for, so it is no try of a key. */
const malformedAttempt: Plan = plan("obtainServiceToken", "state", "a query that is none", [
  post(tokenPath, { query: "mutation {" }, "nobody"),
  errorCode("INVALID_REQUEST")
])

/** In the order in which they are sent. */
export const statePlans: ReadonlyArray<Plan> = [
  ...importing,
  ...afterErasure,
  differing,
  ...changing,
  ...processing,
  ...suppliersThatWait,
  ...ofRivals,
  missingDocument,
  ...notImported,
  ...adding,
  ...instructions,
  ...queryPlans,
  ...accountPlans,
  ...heldKeys,
  malformedAttempt,
  throttled
]
