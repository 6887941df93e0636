/** The peer gives the answers of the services, so that the two can be compared at all. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import fc from "fast-check"
import { AccountNumber } from "@data-import/domain/Account"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { mutant } from "@data-import/domain/testing/mutants"
import { domesticPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import { drop, put, putAll, type Wire } from "@data-import/domain/testing/wire"
import { type Reply, type Side, Sides, sides } from "./sides.ts"

const validatePath = "/v1/data-import/validate-account/"
const stagePath = "/v1/data-import/account-import-process/create-or-update/"
const processPath = "/v1/data-import/account-import-process/process/"
const transactionsPath = "/v1/data-import/transactions/create/"

interface Fault {
  readonly attr: string
  readonly code: string
}

/** Status and code, and each place with its code whatever the order. */
const gist = ({ json, status }: Reply) => {
  const { code, errors = [] } = json as { code?: string; errors?: ReadonlyArray<Fault> }
  return [status, code, ...errors.map(({ attr, code: what }) => `${attr}: ${what}`).toSorted()]
}

/** What the services and the peer answer to the same request, each for a supplier of its own. */
const both = Effect.fnUntraced(function* (ask: (side: Side) => Effect.Effect<Reply>) {
  const { ours, peer } = yield* Sides
  return [yield* ask(ours), yield* ask(peer)] as const
})

const gists = (ask: (side: Side) => Effect.Effect<Reply>) =>
  Effect.map(both(ask), ([ours, peer]) => ({ ours: gist(ours), peer: gist(peer) }))

/** The answer without the supplier, in which the two must differ. */
const said = ({ json, status }: Reply, { supplier }: Side) => ({
  status,
  json: JSON.parse(JSON.stringify(json ?? null).replaceAll(supplier, "SUPPLIER")) as unknown
})

const ofSupplier = (payload: Wire, { supplier }: Side): Wire =>
  payload["import_supplier"] === "SUPPLIER" ? put(payload, "import_supplier", supplier) : payload

const cases = 250

const payloadsAt = (now: DateTime.Utc): ReadonlyArray<Wire> => {
  const valid = accountPayload({ now, supplier: "SUPPLIER" })
  const broken = valid.chain((payload) => mutant(payload, now)).map(({ body }) => body)
  return [valid, broken].flatMap((payloads) => fc.sample(payloads, { numRuns: cases, seed: 5 }))
}

const sample = (number: string): Wire => ({
  ...domesticPayload(),
  import_supplier: "SUPPLIER",
  external_account_number: number
})

const stage = (side: Side, payload: Wire) =>
  side.post(stagePath, { payload: ofSupplier(payload, side) })

const processing = (side: Side, number: string, rest: Wire = {}) =>
  side.post(processPath, {
    payload: {
      import_supplier: side.supplier,
      external_account_number: number,
      operations_team_name: "Migration Team",
      ...rest
    },
    task_params: {}
  })

const adding = (side: Side, number: string, transactions: unknown, search = "") =>
  side.post(`${transactionsPath}${search}`, {
    import_supplier: side.supplier,
    external_account_number: number,
    transactions
  })

const status = (side: Side, number: string) =>
  side.get(`/v1/data-import/account-transfer-status/${side.supplier}/${number}/`)

const imported = (number: string) =>
  both((side) => Effect.andThen(stage(side, sample(number)), processing(side, number)))

const numberIn = ({ json }: Reply): AccountNumber =>
  AccountNumber.make((json as { kraken_account_number: string }).kraken_account_number)

/** Everything on an account but what must differ: its number, and when it was made. */
const contentOf = Effect.fnUntraced(function* (number: AccountNumber, supplier: string) {
  const accounts = yield* Accounts
  const account = Option.getOrThrow(yield* accounts.describe(number))
  return JSON.stringify(account, null, 1)
    .replaceAll(number, "NUMBER")
    .replaceAll(supplier, "SUPPLIER")
    .replaceAll(/"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, (at) =>
      Date.now() - Date.parse(at.slice(1, -1)) < 600_000 ? '"NOW"' : at
    )
})

layer(sides, { excludeTestServices: true })("the services and the peer", (it) => {
  it.effect("judge 500 payloads alike, valid and broken", () =>
    Effect.gen(function* () {
      const payloads = payloadsAt(yield* DateTime.now)
      const sent = yield* Sides
      const answers = yield* Effect.forEach(
        payloads.entries(),
        ([index, payload]) => {
          const path = index % 2 === 0 ? validatePath : stagePath
          return both((side) => side.post(path, { payload: ofSupplier(payload, side) }))
        },
        { concurrency: 8 }
      )
      expect(new Set(answers.map(([{ status: answered }]) => answered)).size).toBe(3)
      for (const [index, [ours, peer]] of answers.entries()) {
        const message = JSON.stringify(payloads[index]).slice(0, 2_000)
        expect(gist(peer), message).toEqual(gist(ours))
        if (ours.status < 400) expect(said(peer, sent.peer), message).toEqual(said(ours, sent.ours))
      }
    })
  )
})
