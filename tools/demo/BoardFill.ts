/**
 * Fills the running system with forty migrations in different states of trouble, so that the board
 * has something to show: `npm run demo -- --board`.
 */
import type { Demo } from "@data-import/local/DemoFile"
import { gzipSync } from "node:zlib"
import { Clock, Console, Data, DateTime, Duration, Effect, Schedule, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { type BoardSession, setUp, signIn, tighten } from "./BoardSession.ts"
import { addPastDays } from "./PastDays.ts"
import { firstZone, linesOf, type Migration, portfolio } from "./Portfolio.ts"

const Token = Schema.Struct({
  data: Schema.Struct({ obtainServiceToken: Schema.Struct({ token: Schema.String }) })
})
const Created = Schema.Struct({ batch_id: Schema.String })
const Watched = Schema.Struct({ state: Schema.String, finished_at: Schema.NullOr(Schema.String) })

const batches = "/v1/data-import/batches/"

/** The system is busy, as it says itself: a small machine is filled all the same. */
class Busy extends Data.TaggedError("Busy")<{ readonly path: string }> {}

const isPassing = (error: unknown): boolean =>
  error instanceof Busy || HttpClientError.isHttpClientError(error)

const patiently = { schedule: Schedule.spaced("2 seconds"), times: 30 }

/** Requests with the token of the demo tenant. */
const clientOf = ({ apiKey, baseUrl, operationsTeamName }: Demo, token: string) => {
  const send = Effect.fnUntraced(
    function* (
      method: "GET" | "POST" | "PUT",
      path: string,
      fill: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
    ) {
      const request = HttpClientRequest.make(method)(baseUrl + path, {
        headers: token === "" ? {} : { authorization: `Token ${token}` }
      })
      const answer = yield* HttpClient.execute(fill(request))
      if (answer.status === 503) return yield* new Busy({ path })
      if (answer.status >= 300) {
        return yield* Effect.fail(new Error(`${path}: ${answer.status} ${yield* answer.text}`))
      }
      return yield* answer.json
    },
    Effect.retry({ ...patiently, while: isPassing })
  )
  const post = (path: string, body: unknown) =>
    send("POST", path, (request) => HttpClientRequest.bodyJsonUnsafe(request, body))
  const upload = (path: string, lines: ReadonlyArray<string>) =>
    send("PUT", path, (request) =>
      HttpClientRequest.bodyUint8Array(
        HttpClientRequest.setHeader(request, "content-encoding", "gzip"),
        gzipSync(lines.map((line) => `${line}\n`).join("")),
        "application/x-ndjson"
      )
    )
  const get = (path: string) => send("GET", path, (request) => request)
  return { apiKey, get, post, team: operationsTeamName, upload }
}

type Client = ReturnType<typeof clientOf>

const tokenFor = Effect.fnUntraced(function* (demo: Demo) {
  const input = `{APIKey: ${JSON.stringify(demo.apiKey)}}`
  const query = `mutation { obtainServiceToken(input: ${input}) { token } }`
  const body = yield* clientOf(demo, "").post("/v1/graphql/", { query })
  const { data } = yield* Schema.decodeUnknownEffect(Token)(body)
  return data.obtainServiceToken.token
})

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

/** Accounts that could be staged, and some of which cannot be imported any more. */
const failLate = Effect.fnUntraced(function* (client: Client, it: Migration) {
  const { code, faultEach, imported } = it
  const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
  const lastDay = DateTime.formatIsoDate(DateTime.setZoneNamedUnsafe(now, firstZone))
  const lines = linesOf({ from: 0, to: imported, faultEach, lastDay })
  yield* untilItRests(client, yield* sendBatch(client, it, "STAGE", lines))
  yield* tighten(code)
  yield* untilItRests(client, yield* process(client, code))
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

/** Those that are left importing come last, so that they are still at it. */
const order: ReadonlyArray<Migration> = portfolio.toSorted(
  (a, b) => Number(a.trouble === "importing") - Number(b.trouble === "importing")
)

/** What goes on for days; the others are as they were sent. */
const isLong = (trouble: Migration["trouble"]): boolean =>
  trouble === "failing" || trouble === "slow" || trouble === "running" || trouble === "paused"

const atOnce = 3

/** The board could not be filled. */
class NotFilled extends Data.TaggedError("NotFilled")<{ readonly why: string }> {}

const fillAll = Effect.fnUntraced(function* (demo: Demo) {
  const secret = yield* setUp(portfolio.map(({ code }) => code))
  const board = yield* signIn(demo.baseUrl, secret)
  const client = clientOf(demo, yield* tokenFor(demo))
  yield* Effect.forEach(order, (migration) => fill(client, board, migration), {
    concurrency: atOnce,
    discard: true
  })
  yield* addPastDays(portfolio.filter(({ trouble }) => isLong(trouble)).map(({ code }) => code))
  const another = yield* setUp([])
  yield* Console.log(
    `\n${portfolio.length} migrations are on the board. Open it, once:\n` +
      `${demo.baseUrl}/board/sign-in/${another}/`
  )
})

export const fillBoard = (demo: Demo) =>
  Effect.mapError(fillAll(demo), (error) => new NotFilled({ why: String(error) }))
