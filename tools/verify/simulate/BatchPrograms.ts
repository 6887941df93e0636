/** Requests about batches, and the work of a worker, on the programs of the domain. */
import { DateTime, Duration, Effect, Stream } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import type { BatchBody, CreatedBatchBody } from "@data-import/domain/batches/BatchBody"
import { makePayloadUpkeep } from "@data-import/domain/imports/PayloadUpkeep"
import { type BatchWorker, makeBatchWorker } from "@data-import/domain/batches/BatchWorker"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { Failure } from "@data-import/domain/requests/Failure"
import { batchNamed, type BatchRecord } from "./BatchModel.ts"
import { lineProgramsOf } from "./LineRuns.ts"
import { reduced, written } from "./Programs.ts"
import type { Answer, BatchAction, Instance, Order, SentRequest } from "./Request.ts"
import { programsOf, type World } from "./World.ts"

type OfBatch = SentRequest & { readonly order: Order<"batch" | "work"> }

export const isOfBatch = (order: Order): order is Order<"batch" | "work"> =>
  order.kind === "batch" || order.kind === "work"

/** The worker of an instance, which remembers the last supplier and batch. */
const workerOf = (world: World, instance: Instance): BatchWorker => {
  const present = world.workers.get(instance)
  if (present !== undefined) return present
  const programs = programsOf(world, instance)
  const made = makeBatchWorker(programs.storage.batches, lineProgramsOf(world, programs), {
    chunks: 1,
    linesKeptFor: Duration.days(30),
    drain: Duration.zero
  })
  world.workers.set(instance, made)
  return made
}

/** Runs the other tasks of a worker one at a time, as often as the run decides. */
const work = (
  world: World,
  { instance, order: { task } }: SentRequest & { order: Order<"work"> }
) => {
  const { batches, imports } = programsOf(world, instance).storage
  switch (task) {
    case "lines":
      return workerOf(world, instance).workOnce
    case "cancelLines":
      return Effect.flatMap(DateTime.now, batches.cancelLines)
    case "deletePayloads":
      return Effect.as(makePayloadUpkeep(imports, Duration.days(1)).deleteAll, false)
    case "review":
      return Effect.flatMap(DateTime.now, (at) =>
        Effect.as(
          batches.review({
            decide: (batch, circumstances) => Batch.review(batch, circumstances, at),
            at
          }),
          false
        )
      )
  }
}

/** The payload of the creation of a batch. */
const payloadOf = (batch: BatchRecord) => {
  const { maxFailures, name, operation, parameters, retried, revert, supplier } = batch
  const needsTeam = operation === "IMPORT" || operation === "PROCESS"
  return {
    import_supplier: supplier,
    operation,
    name,
    ...(needsTeam && { operations_team_name: "Migration Team" }),
    ...(maxFailures !== null && { max_failures: maxFailures }),
    ...(retried !== null && { retry_of: retried.id }),
    ...(operation === "TRANSACTIONS" && {
      parameters: {
        check_previously_added: parameters.check,
        force_add_to_current_statement: parameters.force,
        on_difference: "keep"
      }
    }),
    ...(operation === "REVERT" && {
      reason: "The wave had the wrong sign.",
      with_additions: revert.withAdditions,
      dry_run: revert.dryRun
    }),
    ...(operation === "NOTES" && { parameters: { on_difference: "keep" } })
  }
}

const bodyLine = ({ counts, state }: BatchBody): string => {
  const { already, cancelled, failed, received, remaining, succeeded } = counts
  return [state, received, succeeded, already, failed, cancelled, remaining].join(" ")
}

const broken = { _tag: "ConnectionBroken", code: "connection_broken" } as const

/** The lines in parts with arbitrary boundaries, all of them or until the connection breaks. */
const bodyOf = (lines: ReadonlyArray<string>, breaks: boolean) => {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
  const sent = breaks ? bytes.subarray(0, Math.floor((bytes.length * 2) / 3)) : bytes
  const middle = Math.floor(sent.length / 2)
  const parts = Stream.fromIterable([sent.subarray(0, middle), sent.subarray(middle)])
  return breaks ? Stream.concat(parts, Stream.fail(broken)) : parts
}

/** The message of the answer to anything but a creation. */
const changeOf = (
  world: World,
  { caller, instance }: SentRequest,
  id: string,
  action: Exclude<BatchAction, { readonly does: "create" }>
): Effect.Effect<string, Failure | StorageUnavailable | typeof broken> => {
  const { batches, upload } = programsOf(world, instance)
  switch (action.does) {
    case "upload":
      return Effect.map(
        upload.receive(caller, id, action.from, bodyOf(action.lines, action.breaks)),
        ({ lines_received }) => String(lines_received)
      )
    case "start":
      return Effect.map(
        batches.start(caller, id, { payload: { total_lines: action.lines } }),
        bodyLine
      )
    case "read":
      return Effect.map(batches.find(caller, id), bodyLine)
    case "results":
      return batches
        .results(caller, id, { afterLine: 0, outcome: null, limit: null, includesLater: true })
        .pipe(
          Effect.flatMap(({ results }) => Stream.runCollect(results)),
          Effect.map((results) => results.map(({ text }) => text).join("\n"))
        )
    case "pause":
    case "resume":
    case "cancel":
      return Effect.map(batches[action.does](caller, id), bodyLine)
  }
}

/** Runs the request. A creation is answered with the name, since the id is random. */
export const answerOfBatch = (world: World, asked: SentRequest): Effect.Effect<Answer> => {
  const { order } = asked as OfBatch
  if (order.kind === "work") {
    const working = work(world, { ...asked, order })
    return reduced(Effect.map(working, (more) => ({ code: "ok", message: String(more) })))
  }
  const { action } = order
  const record = batchNamed(world.batches, order.batch)
  if (action.does !== "create") {
    return reduced(
      Effect.map(changeOf(world, asked, record.id ?? "none", action), (message) => ({
        code: "ok",
        message
      }))
    )
  }
  const body = { payload: payloadOf(record) }
  const programs = programsOf(world, asked.instance)
  return reduced(
    written<CreatedBatchBody>(
      programs,
      asked,
      (keep) => programs.batches.create(asked.caller, body, keep),
      ({ name }) => name ?? ""
    )
  )
}
