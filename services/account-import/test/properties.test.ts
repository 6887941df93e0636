/** Properties over HTTP of every valid account, and of every account with one error. */
import { expect, layer } from "@effect/vitest"
import { Clock, type Context, Effect, Layer, Option, Stream } from "effect"
import fc from "fast-check"
import { AccountNumber } from "@data-import/domain/accounts/Account"
import { accountText } from "@data-import/domain/accounts/AccountText"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { sampleTime } from "@data-import/domain/testing/samples"
import { get, isWire, objectsAt, put, type Wire } from "@data-import/domain/testing/wire"
import { FollowsClock } from "@data-import/postgres/connection/Database"
import { rows } from "@data-import/postgres/testing/rows"
import { freshSupplierOf, freshTenant } from "@data-import/server/testing/Tenant"
import { process, service, type Service, stage, validate } from "./importService.ts"

/** The text of an account that is read back. */
const textOf = Effect.fnUntraced(function* (number: AccountNumber) {
  const accounts = yield* Accounts
  return yield* Stream.mkString(
    accountText(Option.getOrThrow(yield* Stream.runHead(accounts.read([number]))))
  )
})

/** Runs the test for this many values. A failing one is reported, with the seed to repeat it. */
const forAll = <A>(
  values: fc.Arbitrary<A>,
  numRuns: number,
  test: (value: A) => Effect.Effect<void, unknown, Service>
) =>
  Effect.flatMap(Effect.context<Service>(), (context: Context.Context<Service>) =>
    Effect.promise(() => {
      const run = (value: A) => Effect.runPromiseWith(context)(test(value))
      return fc.assert(fc.asyncProperty(values, run), { numRuns, endOnFailure: true })
    })
  )

const isInstant = (name: string) => name === "created_at" || name === "unpin_at"

/** The value that must be answered if this was sent. */
const asAnswered = (value: unknown, name = "", inTransaction = false): unknown => {
  if (name === "value" || name === "structured_street_address") return value
  if (Array.isArray(value)) {
    return value.map((element) => asAnswered(element, name, name.endsWith("_transactions")))
  }
  if (isWire(value)) {
    const members = Object.entries(value)
    return Object.fromEntries(
      members.map(([member, inside]) => [member, asAnswered(inside, member, inTransaction)])
    )
  }
  if (inTransaction && name === "amount") return Number(value).toFixed(2)
  if (typeof value !== "string") return value
  const text = value.trim()
  if (name === "country") return text.toUpperCase()
  if (!isInstant(name)) return figures.has(name) ? Number(text) : text
  return new Date(Math.floor(Date.parse(text) / 1000) * 1000).toISOString().replace(".000Z", "Z")
}

const figures = new Set([
  "amount",
  "last_statement_balance",
  "ledger_balance",
  "transfer_balance",
  "number_of_units",
  "net_amount",
  "price_per_unit",
  "units",
  "value_taxed",
  "rate"
])

/** The JSON with the members of objects sorted, so that their order does not matter. */
const inOrder = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(", ")}]`
  if (!isWire(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${inOrder(member)}`
  )
  return `{ ${members.toSorted().join(",\n")} }`
}

const transactionsIn = (account: Wire): ReadonlyArray<string> =>
  ["current_statement_transactions", "historical_statement_transactions"]
    .flatMap((list) => objectsAt(account, "ledgers").flatMap((ledger) => objectsAt(ledger, list)))
    .map(({ amount, transaction_id }) => `${String(transaction_id)} ${String(amount)}`)
    .toSorted()

/** The one import of the supplier: its staged text, and the transactions of its account. */
const importOf = (supplier: string) =>
  rows(
    (sql) => sql<{ payload: string; number: string; transactions: ReadonlyArray<string> }>`
    select payload::text, number, array(
        select transaction_id || ' ' || round(amount, 2) from transactions
        where account_id = import_processes.id
      ) as transactions
    from import_processes join accounts using (id) where supplier = ${supplier}`
  )

/**
 * A clock that always shows noon of the samples, because a date of today may be yesterday a moment
 * later. Sleeps are real. (A test clock would stop the connections to the database.)
 */
const atSampleTime = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (real) => ({
    currentTimeMillisUnsafe: () => sampleTime.epochMilliseconds,
    currentTimeMillis: Effect.succeed(sampleTime.epochMilliseconds),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
    currentTimeNanos: real.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }))
)

const serviceAtSampleTime = Layer.provideMerge(
  service,
  Layer.merge(atSampleTime, Layer.succeed(FollowsClock, false))
)

layer(serviceAtSampleTime, { excludeTestServices: true })("over HTTP", (it) => {
  it.effect(
    "every valid account is validated, staged, processed, stored and read back as sent",
    () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const accounts = accountPayload()
        yield* forAll(accounts, 20, (generated) =>
          Effect.gen(function* () {
            const supplier = yield* freshSupplierOf(tenant.organisation, { documentCheck: false })
            const account = put(generated, "import_supplier", supplier.code)
            const validated = yield* validate(tenant, account)
            expect(inOrder(validated.json)).toBe(inOrder(asAnswered(account)))
            const key = {
              ...tenant.keyOf(String(get(account, "external_account_number"))),
              import_supplier: supplier.code
            }
            const staged = yield* stage(tenant, account)
            expect([staged.status, staged.json]).toStrictEqual([201, key])
            expect((yield* validate(tenant, validated.json)).text).toBe(validated.text)
            const processed = yield* process(tenant, key)
            expect(processed.status, processed.text).toBe(201)
            const [kept] = yield* importOf(supplier.code)
            expect(kept?.payload).toBe(validated.text)
            expect(kept?.transactions.toSorted()).toEqual(transactionsIn(validated.json as Wire))
            expect(processed.json).toEqual({ kraken_account_number: kept?.number })
            const readBack = yield* textOf(AccountNumber.make(kept?.number ?? ""))
            expect(readBack).toContain(`"account":${validated.text},"added":`)
          })
        )
      })
  )
})
