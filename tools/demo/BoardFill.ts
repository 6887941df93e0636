/**
 * Fills the running system with forty migrations in different states of trouble, so that the board
 * has something to show: `npm run demo -- --board`.
 */
import type { Demo } from "@data-import/local/DemoFile"
import type { Request } from "@data-import/testbed/Client"
import { openSession } from "@data-import/testbed/Tokens"
import { randomUUID } from "node:crypto"
import { Clock, Console, Data, DateTime, Duration, Effect, Schedule, Schema } from "effect"
import { type BoardSession, configure, setUp, signIn } from "./BoardSession.ts"
import { addPastDays, type PastMigration } from "./PastDays.ts"
import { firstZone, homeZone, lastZone, linesOf, type Migration, portfolio } from "./Portfolio.ts"

const Created = Schema.Struct({ batch_id: Schema.String })
const Watched = Schema.Struct({ state: Schema.String, finished_at: Schema.NullOr(Schema.String) })

const batches = "/v1/data-import/batches/"

/** A request of the demo was refused. */
class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {
  override get message(): string {
    return this.why
  }
}

const atOnce = 3
const linesOfPart = 2_000

/** Requests with the token of the demo tenant, with enough patience for a small machine. */
const clientOf = Effect.fnUntraced(function* ({ apiKey, baseUrl, operationsTeamName }: Demo) {
  const session = yield* openSession(Number(new URL(baseUrl).port), apiKey, atOnce)
  const send = Effect.fnUntraced(function* (request: Request) {
    const { answer } = yield* session.settle(request)
    if (answer.status < 300) return answer.json
    const why = `${request.path} answered ${answer.status}: ${answer.text}`
    return yield* new Refused({ why })
  })
  const uploadPart = (path: string, from: number, lines: ReadonlyArray<string>) =>
    send({
      method: "PUT",
      path: `${path}?from_line=${from + 1}`,
      lines: lines.map((line) => `${line}\n`)
    })
  return {
    get: (path: string) => send({ method: "GET", path }),
    post: (path: string, body: unknown) => send({ method: "POST", path, body, key: randomUUID() }),
    /** Uploads in parts, each of which is answered in time. */
    upload: Effect.fnUntraced(function* (path: string, lines: ReadonlyArray<string>) {
      for (let from = 0; from < lines.length; from += linesOfPart)
        yield* uploadPart(path, from, lines.slice(from, from + linesOfPart))
    }),
    team: operationsTeamName
  }
})

type Client = Effect.Success<ReturnType<typeof clientOf>>

/** Sends a batch and starts it; `IMPORT` creates the accounts, `STAGE` leaves them waiting. */
const sendBatch = Effect.fnUntraced(function* (
  client: Client,
  { code, maxFailures }: Migration,
  operation: "IMPORT" | "STAGE",
  lines: ReadonlyArray<string>
) {
  const payload = {
    import_supplier: code,
    operation,
    name: operation === "IMPORT" ? "first accounts" : "the rest",
    ...(operation === "IMPORT" && { operations_team_name: client.team }),
    ...(maxFailures !== null && { max_failures: maxFailures })
  }
  const created = yield* client.post(batches, { payload })
  const { batch_id } = yield* Schema.decodeUnknownEffect(Created)(created)
  yield* client.upload(`${batches}${batch_id}/lines/`, lines)
  yield* client.post(`${batches}${batch_id}/start/`, { payload: { total_lines: lines.length } })
  return batch_id
})

/** Processes what is staged. */
const process = Effect.fnUntraced(function* (client: Client, code: string) {
  const payload = {
    import_supplier: code,
    operation: "PROCESS",
    source: "PENDING",
    operations_team_name: client.team
  }
  const created = yield* client.post(batches, { payload })
  const { batch_id } = yield* Schema.decodeUnknownEffect(Created)(created)
  yield* client.post(`${batches}${batch_id}/start/`, { payload: { total_lines: 0 } })
  return batch_id
})

const untilItRests = Effect.fnUntraced(function* (client: Client, batchId: string) {
  while (true) {
    const body = yield* client.get(`${batches}${batchId}/`)
    const { finished_at, state } = yield* Schema.decodeUnknownEffect(Watched)(body)
    if (finished_at !== null || state === "PAUSED") return
    yield* Effect.sleep(Duration.millis(200))
  }
})

const dateIn = (now: number, days: number): string =>
  DateTime.formatIsoDateUtc(DateTime.add(DateTime.makeUnsafe(now), { days }))

const enterPlan = Effect.fnUntraced(function* (board: BoardSession, { code, plan }: Migration) {
  if (plan === null) return
  const now = yield* Clock.currentTimeMillis
  const points = [
    { on: dateIn(now, -8), accounts: 0 },
    { on: dateIn(now, -1), accounts: plan.yesterday },
    { on: dateIn(now, 7), accounts: plan.end }
  ]
  yield* board.act(`migrations/${code}/plan/`, { points })
})

/** Stages accounts, some of which can no longer be imported afterwards. */
const failLate = Effect.fnUntraced(function* (client: Client, it: Migration) {
  const { code, faultEach, imported } = it
  const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
  const lastDay = DateTime.formatIsoDate(DateTime.setZoneNamedUnsafe(now, firstZone))
  const lines = linesOf({ from: 0, to: imported, faultEach, lastDay })
  yield* untilItRests(client, yield* sendBatch(client, it, "STAGE", lines))
  yield* configure(code, { documentCheck: true, timeZone: lastZone })
  yield* untilItRests(client, yield* process(client, code))
  yield* configure(code, { timeZone: homeZone })
})

const fill = Effect.fnUntraced(function* (client: Client, board: BoardSession, it: Migration) {
  const { code, faultEach, imported, staged, trouble } = it
  const first = { from: 0, to: imported, faultEach, lastDay: null }
  if (trouble === "failing") yield* failLate(client, it)
  else if (imported > 0) {
    const batch = yield* sendBatch(client, it, "IMPORT", linesOf(first))
    if (trouble !== "importing") yield* untilItRests(client, batch)
  }
  if (staged > 0) {
    const rest = linesOf({ ...first, from: imported, to: imported + staged, faultEach: 0 })
    yield* untilItRests(client, yield* sendBatch(client, it, "STAGE", rest))
  }
  yield* enterPlan(board, it)
  if (trouble === "paused") yield* board.act(`migrations/${code}/status/`, { status: "Paused" })
  if (trouble === "signed off") {
    yield* board.act(`migrations/${code}/sign-off/`, { import_supplier: code, accept_open: false })
  }
  yield* Console.log(`${code}: ${trouble}`)
})

/** Migrations that are left importing come last, so that they are still running. */
const order: ReadonlyArray<Migration> = portfolio.toSorted(
  (a, b) => Number(a.trouble === "importing") - Number(b.trouble === "importing")
)

/**
 * Migrations with a past of several days, still running or ended; the others keep their real times.
 */
const pastOf = ({ code, trouble }: Migration): ReadonlyArray<PastMigration> => {
  switch (trouble) {
    case "failing":
    case "slow":
    case "running":
    case "paused":
      return [{ code, endedHoursAgo: 0 }]
    case "done":
      return [{ code, endedHoursAgo: 26 }]
    case "signed off":
      return [{ code, endedHoursAgo: 50 }]
    default:
      return []
  }
}

/** The service makes forecasts once a minute. */
const patience = { schedule: Schedule.spaced("1 second"), times: 150 }

/** Waits until running migrations have a forecast, so that the first page view shows it. */
const untilForecast = Effect.fnUntraced(function* (board: BoardSession) {
  const moving = new Set(
    portfolio
      .filter(({ trouble }) => trouble === "slow" || trouble === "running")
      .map(({ code }) => code)
  )
  yield* Console.log("Waiting for the first forecasts")
  yield* Effect.repeat(board.forecasts, {
    ...patience,
    until: (known) => [...moving].every((code) => known.has(code))
  })
})

/** The board could not be filled. */
class NotFilled extends Data.TaggedError("NotFilled")<{ readonly why: string }> {}

const fillAll = Effect.fnUntraced(function* (demo: Demo) {
  const secret = yield* setUp(
    portfolio.map(({ code, trouble }) => ({
      code,
      timeZone: trouble === "failing" ? firstZone : homeZone
    }))
  )
  const board = yield* signIn(demo.baseUrl, secret)
  const client = yield* clientOf(demo)
  yield* Effect.forEach(order, (migration) => fill(client, board, migration), {
    concurrency: atOnce,
    discard: true
  })
  yield* addPastDays(portfolio.flatMap(pastOf))
  yield* untilForecast(board)
  const another = yield* setUp([])
  yield* Console.log(
    `\n${portfolio.length} migrations are on the board. Open it, once:\n` +
      `${demo.baseUrl}/board/sign-in/${another}/`
  )
}, Effect.scoped)

export const fillBoard = (demo: Demo) =>
  Effect.mapError(fillAll(demo), (error) => new NotFilled({ why: String(error) }))
