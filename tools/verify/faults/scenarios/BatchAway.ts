/**
 * A dependency of a batch goes away in the middle of it: the database, the document store or a
 * payment vendor. The batch reports what it waits for, and continues without help.
 */
import { Duration, Effect } from "effect"
import type { Mode, TcpProxy } from "@data-import/postgres/testing/TcpProxy"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import * as BatchClient from "../BatchClient.ts"
import type { SentLine } from "../BatchLines.ts"
import { prepare, verifyBatch } from "../BatchWork.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import { begin, settle, type Work } from "../Work.ts"

/** Lines of a batch for each second. */
const linesPerSecond = 20

/** The circuit breaker of a vendor is open for ten seconds, and then lets one probe through. */
const recoveryLimit = 15

const set = (proxy: TcpProxy, mode: Mode) => Effect.promise(() => proxy.set(mode))

/** Waits until further lines have ended. */
const goesOn = Effect.fnUntraced(function* (batch: BatchClient.BatchClient) {
  const before = BatchClient.endedOf(yield* batch.read())
  yield* batch.until((seen) => BatchClient.endedOf(seen) > before || seen.counts.remaining === 0)
})

/**
 * Sets the proxy to the mode for the time; returns how long it takes afterwards until lines end.
 */
const away = Effect.fnUntraced(function* (
  batch: BatchClient.BatchClient,
  proxy: TcpProxy,
  { lasts, mode }: { readonly lasts: Effect.Effect<unknown, Error>; readonly mode: Mode }
) {
  yield* Effect.addFinalizer(() => set(proxy, { _tag: "Pass" }))
  yield* set(proxy, mode)
  yield* lasts
  yield* set(proxy, { _tag: "Pass" })
  return yield* seconds(goesOn(batch))
}, Effect.scoped)

type Lines = ReadonlyArray<SentLine>

const shared = domesticPayload().statements.map(({ statement_path }) => statement_path)

/** A found document is cached for a minute, so each account names its own statements. */
const withOwnStatements = Effect.fnUntraced(function* ({ supplier }: Tenant, lines: Lines) {
  const { putDocument } = yield* System
  const named = lines.map((line) => {
    const [, number = "none"] = /"external_account_number": ?"([^"]+)"/.exec(line.text) ?? []
    const text = shared.reduce(
      (before, path) => before.replaceAll(path, `${number}/${path}`),
      line.text
    )
    return { number, line: { ...line, text } }
  })
  const paths = [...new Set(named.map(({ number }) => number))].flatMap((number) =>
    shared.map((path) => `${number}/${path}`)
  )
  yield* Effect.forEach(paths, (path) => putDocument(supplier, path), {
    concurrency: 8,
    discard: true
  })
  return named.map(({ line }) => line)
})

/** A started batch whose lines are being processed. */
const running = Effect.fnUntraced(function* (
  work: Work,
  prefix: string,
  lasts: Duration.Duration,
  namingOwn: (lines: Lines) => Effect.Effect<Lines> = Effect.succeed
) {
  const count = linesPerSecond * Duration.toSeconds(lasts)
  const { batch, lines } = yield* prepare(work, prefix, count)
  const sent = yield* namingOwn(lines)
  yield* batch.upload(sent)
  yield* batch.start(sent.length)
  yield* batch.until(({ state }) => state === "RUNNING")
  return { batch, sent }
})

const fromDatabase = Effect.fnUntraced(function* (work: Work, lasts: Duration.Duration) {
  const { databaseProxy } = yield* System
  const modes = [{ _tag: "Refuse" }, { _tag: "Silent" }] as const
  return yield* Effect.forEach(modes, (mode) =>
    Effect.gen(function* () {
      const { batch, sent } = yield* running(work, mode._tag, lasts)
      yield* BatchClient.watch(batch)
      const recovery = yield* away(batch, databaseProxy, { mode, lasts: Effect.sleep(lasts) })
      yield* batch.ended
      yield* verifyBatch(batch, sent, work.writes, work.findings)
      return recovery
    }).pipe(Effect.scoped)
  )
})

/** Waits until the batch reports it, and then for the time. */
const saysSo = (batch: BatchClient.BatchClient, wanted: string, lasts: Duration.Duration) =>
  Effect.andThen(
    batch.until(({ waitingFor }) => waitingFor === wanted, Duration.minutes(1)),
    Effect.sleep(lasts)
  )

const fromStore = Effect.fnUntraced(function* (lasts: Duration.Duration) {
  const { checkedTenant, storeProxy } = yield* System
  const system = yield* System
  const work = yield* begin(4, yield* checkedTenant)
  const { batch, sent } = yield* running(work, "S", lasts, (lines) =>
    Effect.provideService(withOwnStatements(work.tenant, lines), System, system)
  )
  const recovery = yield* away(batch, storeProxy, {
    mode: { _tag: "Refuse" },
    lasts: saysSo(batch, "DOCUMENTS", lasts)
  })
  yield* batch.ended
  yield* verifyBatch(batch, sent, work.writes, work.findings)
  return { ...(yield* settle(work)), recovery }
})

const instructionLine = (number: string): SentLine => ({
  text: JSON.stringify({ external_account_number: number, ...Requests.instructionBody(number) }),
  outcome: "SUCCEEDED",
  code: null,
  account: null,
  isStaged: false
})

/** The vendor answers slowly before it goes away, so that lines are in progress. */
const slowly: Mode = { _tag: "Slow", millis: 100 }

const fromVendor = Effect.fnUntraced(function* (work: Work, lasts: Duration.Duration) {
  const { vendorProxy } = yield* System
  const { findings, session, tenant, writes } = work
  const imported = writes.entries.filter(({ account }) => account !== null)
  const sent = imported.map(({ number }) => instructionLine(number))
  const batch = yield* BatchClient.create(tenant, session, findings, "PAYMENT_INSTRUCTIONS")
  yield* batch.upload(sent)
  yield* set(vendorProxy, slowly)
  yield* batch.start(sent.length)
  yield* batch.until(({ state }) => state === "RUNNING")
  const recovery = yield* away(batch, vendorProxy, {
    mode: { _tag: "Refuse" },
    lasts: saysSo(batch, "VENDOR", lasts)
  })
  yield* batch.ended
  yield* verifyBatch(batch, sent, writes, findings)
  for (const entry of imported) {
    entry.sent.add("instruction")
    writes.added(entry, "instruction")
  }
  return recovery
})

export const batchAway: Scenario = {
  name: "batch-away",
  about: "the database, the document store and a payment vendor are away within batches",
  short: { kills: 0, count: 3 },
  long: { kills: 0, count: 60 },
  proxied: true,
  run: Effect.fnUntraced(function* ({ count }) {
    const lasts = Duration.seconds(count)
    const work = yield* begin()
    const database = yield* fromDatabase(work, lasts)
    const store = yield* fromStore(lasts)
    const vendor = yield* fromVendor(work, lasts)
    const { acknowledged, findings } = yield* settle(work)
    for (const found of store.findings.described(Infinity)) findings.add("wrong", found)
    return {
      acknowledged: acknowledged + store.acknowledged,
      findings,
      recoveries: [...database, store.recovery, vendor],
      recoveryLimit,
      figures: [
        { name: "lines", value: 3 * linesPerSecond * count, unit: "" },
        { name: "s away", value: count, unit: "each" }
      ]
    }
  })
}
