/**
 * Cases of the Idempotency-Key on every operation that writes: what is sent again under its key is
 * answered as the first time, the key is refused to any other request, and a key that is none is
 * refused.
 */
import { instructionPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import type { Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { processStep, stageStep } from "./AccountPlans.ts"
import { type Expectation, type Plan, post, type Reply, type Request, type Step } from "./Case.ts"
import { operation } from "./Document.ts"
import { answers, both, faults } from "./Expectation.ts"
import { heldBody, heldKey, writes } from "./HeldKeys.ts"
import { soundBody } from "./SoundBody.ts"
import { team } from "@data-import/testbed/Tenants"
import { imported, supplier } from "./Tenant.ts"

/** A request that stores something, and what must be there before. */
interface Keyed {
  readonly before: ReadonlyArray<Step>
  readonly body: Wire
}

const accountOf = (mark: string): Wire => ({
  import_supplier: supplier,
  external_account_number: `keyed ${mark}`,
  unknown_occupier: true
})

const keyOf = (mark: string) => ({
  import_supplier: supplier,
  external_account_number: `keyed ${mark}`
})

const onImported = { import_supplier: supplier, external_account_number: imported[1] ?? "" }

/** By the operation; the mark makes it another one in every case. */
const keyed: Readonly<Record<string, (mark: string) => Keyed>> = {
  stageAccount: (mark) => ({ before: [], body: { payload: accountOf(mark) } }),
  processAccount: (mark) => ({
    before: [stageStep(accountOf(mark))],
    body: { payload: { ...keyOf(mark), operations_team_name: team } }
  }),
  createNotes: (mark) => ({ before: [], body: { ...onImported, notes: [{ body: mark }] } }),
  createTransactions: (mark) => ({
    before: [],
    body: {
      ...onImported,
      transactions: transactionsPayload().transactions.map((transaction, index) => ({
        ...transaction,
        transaction_id: `keyed ${mark} ${index}`
      }))
    }
  }),
  createHistoricalStatements: (mark) => ({
    before: [],
    body: {
      ...onImported,
      statements: [
        {
          statement_id: `keyed ${mark}`,
          bill_period_from_date: "2025-01-01",
          bill_period_to_date: "2025-01-31"
        }
      ]
    }
  }),
  createPaymentInstruction: (mark) => ({
    before: [stageStep(accountOf(mark)), processStep(`keyed ${mark}`)],
    body: { ...instructionPayload(), ...keyOf(mark), reference: `pm_${mark}` }
  })
}

/** Transactions are sent so that they would be added again. */
const pathOf = (id: string): string => {
  const { template } = operation(id)
  return id === "createTransactions" ? `${template}?check_previously_added=false` : template
}

const withKeys = (request: Request, ...values: ReadonlyArray<string>): Request => ({
  ...request,
  headers: [...request.headers, ...values.map((value) => ["idempotency-key", value] as const)]
})

const replayed = "idempotency-replayed"

const saying =
  (sentence: string, holds: (reply: Reply) => boolean): Expectation =>
  (replies) =>
    replies.every(holds) ? [] : [sentence]

const isFresh = saying(
  "an answer is given again that nobody has had",
  ({ headers }) => headers[replayed] === undefined
)

/** The same answer, of which it is said that it was kept. */
const isKept = (first: Reply): Expectation =>
  saying(
    `the answer is not the one that was kept, ${first.status} ${first.body.slice(0, 200)}`,
    ({ body, headers, status }) =>
      body === first.body && status === first.status && headers[replayed] === "true"
  )

const asksToWait = saying("there is no Retry-After", ({ headers }) =>
  /^[1-9]\d*$/.test(headers["retry-after"] ?? "")
)

const reused = both(answers("422 idempotency_key_reused"), isFresh)
const inUse = both(answers("409 idempotency_key_in_use"), isFresh, asksToWait)

/** Of many at once, one is answered anew and every other one the same, or that it runs. */
const oneOfMany: Expectation = (replies) => {
  const done = replies.filter(({ status }) => status !== 409)
  const [first] = done
  const fresh = done.filter(({ headers }) => headers[replayed] === undefined)
  return [
    ...answers("201", "409 idempotency_key_in_use")(replies),
    ...(fresh.length === 1 ? [] : [`${fresh.length} of ${replies.length} were answered anew`]),
    ...(done.every(({ body }) => body === first?.body) ? [] : ["the answers differ"])
  ]
}

/** What may stand in a key without quotes. */
const bareCharacter = fc
  .integer({ min: 33, max: 126 })
  .map((code) => String.fromCharCode(code))
  .filter((character) => !/[",\\]/.test(character))

const quoted = (key: string): string => `"${key.replaceAll(/["\\]/g, "\\$&")}"`

/** Ways to write a key, which begins with the mark and so is nobody else's. */
const spellings: ReadonlyArray<
  readonly [name: string, of: (key: string) => ReadonlyArray<string>]
> = [
  ["bare", (key) => [key]],
  ["quoted", (key) => [quoted(key)]],
  ["between blanks", (key) => [`  ${quoted(key)} `]],
  ["twice in one header", (key) => [`${key}, ${quoted(key)}`]],
  ["in two headers", (key) => [key, quoted(key)]]
]

/** The rest of a key: of any length up to the longest. */
const rest = fc.oneof(
  fc.string({ unit: bareCharacter, maxLength: 20 }),
  fc.constantFrom("x".repeat(255), "%2F../;=*")
)

const longest = 255

const otherBody = (body: Wire): Wire => ({ ...body, surprise: 1 })

interface Following {
  /** The key as it was sent, and in another spelling. */
  readonly values: ReadonlyArray<string>
  readonly spelled: ReadonlyArray<string>
  /** Another operation, of whichever service. */
  readonly other: string
}

/** The same request under its key, and then others under it. */
const followUps =
  (id: string, body: Wire, { other, spelled, values }: Following) =>
  (first: Reply): ReadonlyArray<Step> => {
    const path = pathOf(id)
    const same = post(path, body)
    const further = path.includes("?") ? `${path}&` : `${path}?`
    return [
      { request: withKeys(same, ...spelled), expect: isKept(first) },
      { request: withKeys(post(path, otherBody(body)), ...values), expect: reused },
      { request: withKeys(post(path, ` ${JSON.stringify(body)}`), ...values), expect: reused },
      { request: withKeys(post(further, body), ...values), expect: reused },
      { request: withKeys(post(operation(other).template, body), ...values), expect: reused },
      { request: withKeys(same, ...values), expect: isKept(first) }
    ]
  }

const again: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.constantFrom(...writes),
    rest,
    fc.constantFrom(...spellings),
    fc.constantFrom(...spellings),
    fc.constantFrom(...writes)
  )
  .filter(([id, , , , other]) => id !== other)
  .map(([id, end, [name, spell], [, spellAgain], other]) => ({
    operation: id,
    kind: "state",
    name: `a key ${name}, again`,
    steps: (mark) => {
      const key = `${mark}:${end}`.slice(0, longest)
      const { before, body } = keyed[id]?.(mark) ?? { before: [], body: {} }
      const values = spell(key)
      const first: Step = {
        request: withKeys(post(pathOf(id), body), ...values),
        expect: both(answers("201"), isFresh),
        next: followUps(id, body, { values, spelled: spellAgain(key), other })
      }
      return [...before, first]
    }
  }))

const atOnce: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...writes), fc.integer({ min: 2, max: 5 }))
  .map(([id, times]) => ({
    operation: id,
    kind: "state",
    name: "a key several times at once",
    steps: (mark) => {
      const { before, body } = keyed[id]?.(mark) ?? { before: [], body: {} }
      const request = withKeys(post(pathOf(id), body), mark)
      return [...before, { request, times, expect: oneOfMany }]
    }
  }))

/** The request breaks a rule each time, and then another one has the key. */
const refused: fc.Arbitrary<Plan> = fc.constantFrom(...writes).map((id) => ({
  operation: id,
  kind: "state",
  name: "a key of a request that is refused",
  steps: (mark) => {
    const { before, body } = keyed[id]?.(mark) ?? { before: [], body: {} }
    const broken = withKeys(post(pathOf(id), otherBody(body)), mark)
    const isRefused = both(answers("400"), isFresh)
    return [
      ...before,
      { request: broken, expect: isRefused },
      { request: broken, expect: isRefused },
      {
        request: withKeys(post(pathOf(id), body), mark),
        expect: both(answers("201"), isFresh)
      }
    ]
  }
}))

/** Headers that name no key, or several. */
const malformed: Readonly<Record<string, (mark: string) => ReadonlyArray<string>>> = {
  "that is empty": () => [""],
  "that is empty in quotes": () => ['""'],
  "of 256 characters": (mark) => [mark.padEnd(256, "x")],
  "of 256 characters in quotes": (mark) => [quoted(mark.padEnd(256, " "))],
  "and another one in one header": (mark) => [`${mark}a, ${mark}b`],
  "and another one in a second header": (mark) => [`${mark}a`, `${mark}b`],
  "and an empty one": (mark) => [mark, ""],
  "with a blank": (mark) => [`${mark} x`],
  "with an open quote": (mark) => [`"${mark}`],
  "with a quote inside": (mark) => [`${mark}"x`],
  "with a parameter": (mark) => [`"${mark}";a=1`],
  "beyond ASCII": (mark) => [`"${mark}\u00e6"`],
  "with a wrong escape": (mark) => [`"${mark}\\x"`]
}

const failed = (id: string): string =>
  `400 ${/Account$/.test(id) ? "account" : "request"}_failed_validation`

const none: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...writes), fc.constantFrom(...Object.entries(malformed)))
  .map(([id, [name, values]]) => ({
    operation: id,
    kind: "mutant",
    name: `a key ${name}`,
    steps: (mark) => [
      {
        request: withKeys(post(pathOf(id), soundBody(id)), ...values(mark)),
        expect: faults(failed(id), "Idempotency-Key invalid")
      }
    ]
  }))

/** What a key that another request holds, and never answers, is refused with. */
export const fixedKeyPlans: ReadonlyArray<Plan> = writes.flatMap((id) => {
  const { template } = operation(id)
  const one = (name: string, body: unknown, expect: Expectation): Plan => ({
    operation: id,
    kind: "state",
    name,
    steps: () => [{ request: withKeys(post(template, body), heldKey(id)), expect }]
  })
  return [
    one("a key that is in use", heldBody, inUse),
    one("a key that is in use by another request", soundBody(id), reused)
  ]
})

/** What comes under a key, each kind as often as its weight says. */
export const keyPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 4, arbitrary: again },
  { weight: 2, arbitrary: atOnce },
  { weight: 1, arbitrary: refused },
  { weight: 2, arbitrary: none }
]
