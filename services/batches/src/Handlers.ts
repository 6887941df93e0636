/** Batches over HTTP: each handler calls one program and wraps its answer. */
import { Duration, Effect, Option, Stream } from "effect"
import { BatchGroup, defaultListLimit } from "@data-import/api/BatchApi"
import { BatchBody, CreatedBatchBody, entityTagOf } from "@data-import/domain/batches/BatchBody"
import type { LineOutcome } from "@data-import/domain/batches/Counts"
import { BatchManagement, type FailureReport } from "@data-import/domain/batches/BatchManagement"
import { OutcomeBody } from "@data-import/domain/batches/RehearsalOutcome"
import { Rehearsals } from "@data-import/domain/batches/Rehearsals"
import { BatchUpload } from "@data-import/domain/batches/BatchUpload"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { encoderOf } from "@data-import/domain/schema/Encoder"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { type WriteCall, writing } from "@data-import/server/routing/IdempotencyHeader"
import { batchOf } from "@data-import/server/routing/PathNames"
import * as Route from "@data-import/server/routing/Route"
import { matches } from "./EntityTag.ts"

type Management = BatchManagement["Service"]

const createdBatch = Answer.encoded(201, CreatedBatchBody)
const changedBatch = Answer.encoded(200, BatchBody)
const encodeBatch = encoderOf(BatchBody)
const encodeOutcome = encoderOf(OutcomeBody)

/** How often a waiting request looks for a change. */
const lookEvery = Duration.seconds(1)

/**
 * Waits until the batch changes, and checks once a second; None after the given number of seconds.
 */
const changed = <E>(
  find: Effect.Effect<BatchBody, E>,
  isKnown: (batch: BatchBody) => boolean,
  seconds: number
): Effect.Effect<Option.Option<BatchBody>, E> =>
  Effect.gen(function* () {
    for (let second = 0; second < seconds; second++) {
      yield* Effect.sleep(lookEvery)
      const batch = yield* find
      if (!isKnown(batch)) return Option.some(batch)
    }
    return Option.none()
  })

type GetCall = Call & { readonly caller: Caller; readonly parameters: { readonly wait?: number } }

/** Source: docs/contract/batches.md#waiting-for-a-change. */
const getBatch = (management: Management) => (call: GetCall) =>
  Effect.gen(function* () {
    const { caller, parameters, request } = call
    const find = management.find(caller, batchOf(call))
    const condition = request.headers["if-none-match"]
    const isKnown = (batch: BatchBody) =>
      condition !== undefined && matches(condition, entityTagOf(batch))
    const answer = (batch: BatchBody) => {
      const headers = { etag: entityTagOf(batch) }
      return isKnown(batch)
        ? Answer.notModified(headers)
        : Answer.json(200, encodeBatch(batch), headers)
    }
    const found = yield* find
    const { wait = 0 } = parameters
    if (condition === undefined || wait === 0) return answer(found)
    const waited = yield* call.wait(caller.organisation, changed(find, isKnown, wait))
    return answer(Option.getOrElse(Option.flatten(waited), () => found))
  })

interface ListParameters {
  readonly import_supplier: string
  readonly limit?: number
  readonly after?: string
}

const batchesAtOnce = 100

const listBatches =
  (management: Management) =>
  ({
    caller,
    parameters,
    request
  }: Call & { readonly caller: Caller; readonly parameters: ListParameters }) =>
    Effect.gen(function* () {
      const { after = null, import_supplier, limit = defaultListLimit } = parameters
      const found = yield* management.list(caller, import_supplier, { after, limit: limit + 1 })
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const next = { import_supplier, limit: String(limit), after: last?.batch_id ?? "" }
      return yield* Answer.jsonArray(
        Stream.map(Stream.fromIterable(page, { chunkSize: batchesAtOnce }), encodeBatch),
        found.length > limit ? Answer.nextPage(request.url, next) : {}
      )
    })

interface ResultsParameters {
  readonly after_line?: number
  readonly outcome?: LineOutcome
  readonly limit?: number
  readonly done?: boolean
}

const listBatchResults =
  (management: Management) =>
  (call: Call & { readonly caller: Caller; readonly parameters: ResultsParameters }) =>
    Effect.gen(function* () {
      const { after_line = 0, done = false, limit = null, outcome = null } = call.parameters
      const found = yield* management.results(call.caller, batchOf(call), {
        afterLine: after_line,
        outcome,
        limit,
        includesLater: done
      })
      return yield* Answer.ndjson(
        Stream.map(found.results, ({ text }) => text),
        {
          "results-through": String(found.through),
          "results-complete": String(found.isComplete)
        }
      )
    })

const problemsOf = ({ failedLines, problems }: FailureReport) => ({
  failed_lines: failedLines,
  problems: problems.map(({ attr, clearedLines, code, examples, lines }) => ({
    code,
    attr,
    lines,
    cleared_lines: clearedLines,
    examples: examples.map(({ businessDay, detail, externalAccountNumber, line }) => ({
      line,
      external_account_number: externalAccountNumber,
      detail,
      ...(businessDay !== undefined && { business_day: businessDay })
    }))
  }))
})

export const routes = Effect.gen(function* () {
  const management = yield* BatchManagement
  const rehearsals = yield* Rehearsals
  const { receive } = yield* BatchUpload
  const write = yield* writing
  const change = (run: Management["pause"]) =>
    write(
      (call: WriteCall) =>
        Effect.andThen(
          Route.orRefuse(call.parameters),
          run(call.caller, batchOf(call), call.recorder)
        ),
      changedBatch
    )

  return Route.handle(BatchGroup, {
    createBatch: write(
      ({ body, caller, recorder, parameters }) =>
        management.create(caller, body, recorder, Route.parameterErrors(parameters)),
      createdBatch
    ),
    sendBatchLines: (call) => {
      const { body, caller, parameters } = call
      const received = receive(caller, batchOf(call), parameters.from_line ?? 1, body)
      return Effect.map(received, (lines) => Answer.json(200, lines))
    },
    startBatch: write((call) => {
      const { body, caller, recorder, parameters } = call
      const errors = Route.parameterErrors(parameters)
      return management.start(caller, batchOf(call), body, recorder, errors)
    }, changedBatch),
    pauseBatch: change(management.pause),
    resumeBatch: change(management.resume),
    cancelBatch: change(management.cancel),
    getBatch: getBatch(management),
    listBatches: listBatches(management),
    listBatchResults: listBatchResults(management),
    listBatchProblems: (call) =>
      Effect.map(management.problems(call.caller, batchOf(call)), (report) =>
        Answer.json(200, problemsOf(report))
      ),
    getBatchForecast: (call) =>
      Effect.map(rehearsals.forecast(call.caller, batchOf(call)), (forecast) =>
        Answer.json(200, forecast)
      ),
    getBatchOutcome: (call) =>
      Effect.map(rehearsals.outcome(call.caller, batchOf(call)), (body) =>
        Answer.json(200, encodeOutcome(body))
      ),
    listOutcomeLines: (call) => {
      const { after_line = 0, happened, limit = defaultListLimit, predicted } = call.parameters
      const query = {
        ...(predicted !== undefined && { predicted }),
        ...(happened !== undefined && { happened }),
        afterLine: after_line,
        limit
      }
      return Effect.map(rehearsals.lines(call.caller, batchOf(call), query), (lines) =>
        Answer.json(200, lines)
      )
    }
  })
})
