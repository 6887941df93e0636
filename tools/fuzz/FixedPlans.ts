/**
 * The cases that every run begins with, whatever its seed: each operation with each answer that it
 * can be brought to, and each code of an account, so that no run depends on chance for what the
 * document promises.
 */
import { mutationsOf } from "@data-import/domain/testing/mutants"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { drop, objectsAt, put, type Wire } from "@data-import/domain/testing/wire"
import { statusPath, validatePath } from "./AccountPlans.ts"
import {
  type Expectation,
  get,
  type Kind,
  type Plan,
  post,
  type Request,
  type Step
} from "./Case.ts"
import type { Day } from "./Day.ts"
import { operation, operations, type Operation, tokenPath } from "./Document.ts"
import { answers, both, closes, faults, has } from "./Expectation.ts"
import { soundRequest } from "./HttpPlans.ts"
import { card, debit, onNewAccount } from "./InstructionPlans.ts"
import { fixedKeyPlans } from "./KeyPlans.ts"
import { posts, soundAnswers, soundBody } from "./SoundBody.ts"
import {
  absentVendor,
  completeSupplier,
  fullSupplier,
  held,
  imported,
  pausedSupplier,
  skipped,
  staged,
  supplier
} from "./Tenant.ts"

const plan = (
  id: string,
  kind: Kind,
  name: string,
  ...steps: ReadonlyArray<readonly [Request, Expectation]>
): Plan => ({
  operation: id,
  kind,
  name,
  steps: () => steps.map(([request, expect]): Step => ({ request, expect }))
})

const tooLarge = 10 * 1024 * 1024 + 1

const refusedByBody = (asked: Operation): ReadonlyArray<Plan> => {
  const sound = soundRequest(asked)
  const announced: Request = {
    ...sound,
    framing: "announced",
    headers: [...sound.headers, ["content-length", String(tooLarge)]]
  }
  const poured: Request = {
    ...sound,
    body: Buffer.alloc(tooLarge + 1_000_000, " "),
    framing: { chunk: 1_000_000 }
  }
  const one = (name: string, request: Request, outcome: string) =>
    plan(asked.id, "bytes", name, [request, answers(outcome)])
  return [
    one("a body that stops coming", { ...sound, framing: "stalled" }, "408 request_timeout"),
    one("a body announced as too large", announced, "413 payload_too_large"),
    one("a body that turns out too large", poured, "413 payload_too_large"),
    one("an open text", { ...sound, body: '{"' }, "400 parse_error"),
    one("no media type", { ...sound, headers: [] }, "415 unsupported_media_type")
  ]
}

/** Refused with the operation's code for a request that breaks a rule, where it has one. */
const refusedByQuery = (asked: Operation): ReadonlyArray<Plan> => {
  const code = asked.answers.get(400)?.find((it) => it.endsWith("_failed_validation"))
  const sound = soundRequest(asked)
  const one = (name: string, search: string, fault: string) =>
    plan(asked.id, "mutant", name, [
      { ...sound, path: `${sound.path}${sound.path.includes("?") ? "&" : "?"}${search}` },
      code === undefined ? answers("200") : faults(`400 ${code}`, fault)
    ])
  return [
    one("an undocumented parameter", "surprise=1", "surprise unknown_parameter"),
    one("too many parameters", "a&".repeat(101), "non_field_errors max_length"),
    one("as many parameters as a head holds", "a&".repeat(7_000), "non_field_errors max_length")
  ]
}

const ofEvery = (asked: Operation): ReadonlyArray<Plan> => {
  const sound = soundRequest(asked)
  const html: Request = { ...sound, headers: [...sound.headers, ["accept", "text/html"]] }
  const guarded: ReadonlyArray<Plan> = asked.answers.has(401)
    ? [
        plan(asked.id, "who", "no token", [
          { ...sound, who: "nobody" },
          answers("401 not_authenticated")
        ]),
        plan(asked.id, "who", "no token of ours", [
          { ...sound, headers: [...sound.headers, ["authorization", "Token x"]] },
          answers("401 authentication_failed")
        ]),
        plan(asked.id, "who", "a key that may not do this", [
          {
            ...sound,
            who: asked.method === "GET" || asked.id === "validateAccount" ? "writer" : "reader"
          },
          answers("403 permission_denied")
        ])
      ]
    : []
  return [
    plan(asked.id, "valid", "a sound request", [sound, answers(...soundAnswers)]),
    plan(asked.id, "http", "no room for JSON", [html, answers("406 not_acceptable")]),
    plan(asked.id, "http", "another method", [
      { ...sound, method: "PATCH" },
      answers("405 method_not_allowed")
    ]),
    plan(asked.id, "http", "headers that are too large", [
      { ...sound, headers: [...sound.headers, ["x-large", "x".repeat(16 * 1024)]] },
      answers("431 headers_too_large")
    ]),
    plan(asked.id, "http", "a Host that is none", [
      { ...sound, headers: [...sound.headers, ["host", "[::1"]] },
      both(answers("400 parse_error"), closes)
    ]),
    ...guarded,
    ...refusedByQuery(asked),
    ...(asked.body === null ? [] : refusedByBody(asked))
  ]
}

const codesOfAccounts = (day: Day): ReadonlyArray<Plan> => {
  const payload: Wire = put(domesticPayload(), "import_supplier", supplier)
  const first = Map.groupBy(mutationsOf(payload, day.begin), ({ code }) => code)
  return [...first.values()].flatMap(([mutation]) => {
    if (mutation === undefined) return []
    const { body, fault, name } = mutation.make()
    return [
      plan("validateAccount", "mutant", name, [
        post(validatePath, { payload: body }),
        faults("400 account_failed_validation", `${fault.attr} ${fault.code}`)
      ])
    ]
  })
}

const altered = (id: string, changes: Wire): Request => {
  const sound = soundBody(id)
  const at = Object.hasOwn(sound, "payload") ? "payload." : ""
  const body = Object.entries(changes).reduce(
    (before, [name, value]) => put(before, `${at}${name}`, value),
    sound
  )
  return post(operation(id).template, body)
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
    { operations_team_name: "Nobody" },
    faults(
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
  state("processAccount", "a rehearsal", { dry_run: true }, answers("400 dry_run_successful"))
]

const writes = posts.map(({ id }) => id).filter((id) => !/^validate|^obtain/.test(id))

/** Documents are looked up before the status of the supplier, and theirs has none. */
const withoutDocuments: Readonly<Record<string, Wire>> = {
  stageAccount: { notes: [], statements: [] },
  createNotes: { notes: [{ body: "B" }] },
  createHistoricalStatements: {
    statements: objectsAt(soundBody("createHistoricalStatements"), "statements").map((statement) =>
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

const ofRivals: ReadonlyArray<Plan> = [...writes, "validateAccount"].map((id) => {
  const envelope = /Account$/.test(id) ? "account" : "request"
  return plan(id, "who", "a rival", [
    { ...altered(id, {}), who: "rival" },
    faults(`400 ${envelope}_failed_validation`, "import_supplier import_supplier_does_not_exist")
  ])
})

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

const transactions = objectsAt(soundBody("createTransactions"), "transactions")

const unforced: Request = {
  ...altered("createTransactions", {
    "transactions.0.transaction_date": "2025-02-28",
    "transactions.0.transaction_id": "a transaction that is not there yet"
  }),
  path: `${operation("createTransactions").template}?force_add_to_current_statement=false`
}

const adding: ReadonlyArray<Plan> = [
  ...additions.map((id) => {
    const list = Object.keys(soundBody(id)).at(-1) ?? ""
    return state(
      id,
      "an empty list",
      { [list]: [] },
      faults("400 request_failed_validation", `${list} empty`)
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
  state(
    "createHistoricalStatements",
    "a statement that is known otherwise",
    { "statements.0.statement_id": "NL-S-2025-01" },
    faults("400 request_failed_validation", "statements.0 historical_statement_already_exists")
  )
]

const instruction = (name: string, number: string, outcome: string): Plan =>
  state("createPaymentInstruction", name, { external_account_number: number }, answers(outcome))

const away = answers("500 payment_vendor_unavailable")

const instructions: ReadonlyArray<Plan> = [
  instruction("nothing staged", "nothing is staged for this", "400 import_process_does_not_exist"),
  instruction("not imported", staged, "400 account_not_found"),
  onNewAccount(
    "another one",
    "state",
    [card("pm_1"), answers("201")],
    [card("pm_2"), answers("400 active_payment_instruction_exists")]
  ),
  onNewAccount("a card that nobody has", "state", [
    card("missing"),
    answers("400 payment_instruction_rejected_by_vendor")
  ]),
  onNewAccount("a vendor that nobody can ask", "state", [
    { ...card("pm_1"), vendor: absentVendor },
    answers("400 payment_vendor_unreachable")
  ]),
  onNewAccount("a card vendor that is down", "state", [card("down"), away]),
  onNewAccount("a card vendor that is slow", "state", [card("slow"), away]),
  onNewAccount("a debit vendor that is down", "state", [debit("down"), away])
]

const queries: ReadonlyArray<Plan> = [
  ...[
    [staged, "UNKNOWN"],
    [skipped, "UNKNOWN"],
    [held, "IN_PROGRESS"],
    [imported[0] ?? "", "COMPLETED"]
  ].map(([number = "", status = ""]) =>
    plan("getAccountImportStatus", "state", `${number} is ${status}`, [
      get(statusPath(supplier, number)),
      both(answers("200"), has("status", status))
    ])
  ),
  ...operations
    .filter(({ template }) => template.includes("{import_supplier}"))
    .map(({ id, template }) =>
      plan(id, "state", "a supplier that is not there", [
        get(template.replace(/\{\w+\}/g, "NOBODY")),
        answers("404 not_found")
      ])
    ),
  ...operations
    .filter(({ answers: documented, id }) => id.startsWith("list") && documented.has(400))
    .map(({ id, template }) =>
      plan(id, "mutant", "a limit of nothing", [
        get(`${template.replace(/\{\w+\}/g, supplier)}?limit=0`),
        faults("400 request_failed_validation", "limit min_value")
      ])
    )
]

const attempt = (key: string): Request =>
  post(
    tokenPath,
    { query: `mutation { obtainServiceToken(input: { APIKey: "${key}" }) { token } }` },
    "nobody"
  )

const errorCode = (code: string) => both(answers("200"), has("errors.0.extensions.errorCode", code))

/** From one address, whose next wrong keys are then told to wait. */
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

/** In the order in which they are sent. */
export const fixedPlans = (day: Day): ReadonlyArray<Plan> => [
  ...operations.flatMap(ofEvery),
  ...codesOfAccounts(day),
  ...importing,
  ...processing,
  ...suppliersThatWait,
  ...ofRivals,
  ...notImported,
  ...adding,
  ...instructions,
  ...queries,
  ...fixedKeyPlans,
  throttled
]
