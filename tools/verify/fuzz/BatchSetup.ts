/** Makes the fixed batches, and keeps the batches of other cases from becoming too many. */
import type { Client, Request } from "@data-import/testbed/Client"
import { textAt } from "@data-import/testbed/Client"
import { Database } from "@data-import/postgres/connection/Database"
import { team } from "@data-import/testbed/Tenants"
import { Data, Duration, Effect, Schedule } from "effect"
import { domesticPayload } from "@data-import/domain/testing/samples"
import * as Batches from "./FixedBatches.ts"

class BatchSetUpFailed extends Data.TaggedError("BatchSetUpFailed")<{ readonly message: string }> {}

const supplier = "FUZZ"
const ndjson = "application/x-ndjson"

const validLine = JSON.stringify({ ...domesticPayload(), import_supplier: supplier })

/** The batches that cases must not change. */
const fixed = [
  Batches.openBatch,
  Batches.pausedBatch,
  Batches.endedBatch,
  Batches.fullBatch,
  Batches.pendingBatch
]

/** A client whose requests must succeed. */
const askingWith = (client: Client, token: string) =>
  Effect.fnUntraced(function* (request: Omit<Request, "token">) {
    const { answer } = yield* client.settle({ ...request, token }, () => {})
    if (answer.status < 300) return answer
    const message = `${request.path} → ${answer.status} ${JSON.stringify(answer.json)}`
    return yield* new BatchSetUpFailed({ message })
  })

const untilEnded = { schedule: Schedule.spaced(Duration.millis(100)), times: 300 }

/** Makes the batches over HTTP, and then sets their ids and the states that no request causes. */
const make = Effect.fnUntraced(function* (client: Client, token: string) {
  const { run, sql } = yield* Database
  const ask = askingWith(client, token)
  const post = (path: string, payload: object) => ask({ method: "POST", path, body: { payload } })
  const create = Effect.fnUntraced(function* (id: string, settings: object) {
    const { json } = yield* post(Batches.batchesPath, { import_supplier: supplier, ...settings })
    yield* run(sql`update batches set id = ${id} where id = ${textAt(json, "batch_id")}::uuid`)
  })
  const send = (id: string, lines: string) =>
    ask({ method: "PUT", path: Batches.batchPath(id, "lines/"), text: lines, type: ndjson })
  const start = (id: string, total_lines: number) =>
    post(Batches.batchPath(id, "start/"), { total_lines })

  yield* create(Batches.openBatch, { operation: "STAGE" })
  yield* send(Batches.openBatch, Batches.openLines)
  yield* create(Batches.pausedBatch, { operation: "VALIDATE" })
  yield* send(Batches.pausedBatch, "{}\n")
  yield* run(
    sql`update batches set paused_by = '{OPERATOR}' where id = ${Batches.pausedBatch}::uuid`
  )
  yield* start(Batches.pausedBatch, 1)
  yield* create(Batches.cancelledBatch, { operation: "STAGE" })
  yield* ask({ method: "POST", path: Batches.batchPath(Batches.cancelledBatch, "cancel/") })
  for (const id of [Batches.endedBatch, Batches.deletedBatch]) {
    yield* create(id, { operation: "VALIDATE" })
    yield* send(id, `${validLine}\n{}\n`)
    yield* start(id, 2)
    const path = Batches.batchPath(id)
    const isDone = Effect.map(ask({ method: "GET", path }), ({ json }) =>
      textAt(json, "state").startsWith("COMPLETED")
    )
    const waiting = new BatchSetUpFailed({ message: `${path} does not end` })
    yield* Effect.retry(
      Effect.flatMap(isDone, (done) => (done ? Effect.void : Effect.fail(waiting))),
      untilEnded
    )
  }
  yield* run(
    sql`update batches set lines_deleted_through = 2 where id = ${Batches.deletedBatch}::uuid`
  )
  yield* create(Batches.fullBatch, { operation: "STAGE" })
  yield* run(sql`update batches set received = 1000000 where id = ${Batches.fullBatch}::uuid`)
  yield* create(Batches.pendingBatch, {
    operation: "PROCESS",
    operations_team_name: team,
    dry_run: true,
    source: "PENDING"
  })
})

/**
 * Cancels batches that cases have created and will never start, because an organisation may have
 * only few unfinished batches.
 */
const cancelOthers = Effect.gen(function* () {
  const { run, sql } = yield* Database
  yield* run(sql`
    update batches set is_cancelled = true, finished_at = now()
    where supplier = ${supplier} and started_at is null and finished_at is null and received = 0
      and id <> all(${fixed}::uuid[])
      and (name is distinct from ${Batches.oneOfTooMany}
        or created_at < now() - interval '10 seconds')`)
})

/** Keeps the fixed batches until the scope ends. */
export const holdBatches = Effect.fnUntraced(function* (client: Client, token: string) {
  yield* make(client, token)
  yield* Effect.forkScoped(Effect.repeat(cancelOthers, Schedule.spaced(Duration.millis(100))))
})
