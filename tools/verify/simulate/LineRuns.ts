/**
 * The programs with which a worker runs lines. Each step of a line is a separate request, with its
 * own place in the history of its import, and its own answer.
 */
import { Effect } from "effect"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import type { KeyedRequest } from "@data-import/domain/idempotency/IdempotencyKey"
import type { LinePrograms } from "@data-import/domain/batches/LineOperations"
import { finish } from "@data-import/domain/support/Steps"
import { objectsAt, type Wire } from "@data-import/domain/testing/wire"
import { batchNamed, batchOf, type BatchRecord, lineOf } from "./BatchModel.ts"
import { OnBehalf } from "./CallScheduler.ts"
import { encodeResult, readKept } from "./LineResultText.ts"
import { begin, log, meet } from "./Lifecycle.ts"
import { type Programs, reduced } from "./Programs.ts"
import type { Answer, LineStep, SentRequest } from "./Request.ts"
import type { World } from "./World.ts"

/** Waits for an answer that must arrive before the line continues. */
const delivered = (world: World, request: SentRequest, answer: Answer) =>
  Effect.callback<void>((resume) => {
    world.scheduler.add({ request, operation: "answer", args: [answer] }, () => resume(Effect.void))
  })

/** Runs a step of a line; `answerOf` makes the answer that a client would get for a success. */
const runStep = Effect.fnUntraced(function* <A, E>(
  world: World,
  step: Step,
  keyed: KeyedRequest | null,
  run: (caller: Caller) => Effect.Effect<A, E>,
  answerOf: (value: A) => Answer
) {
  const worker = yield* OnBehalf
  if (worker === null || worker.instance.crashed) return yield* Effect.never
  const batch = batchNamed(world.batches, step.batch)
  const line = lineOf(batch, step.line)
  const order = step.step === "end" ? line.end : (line.stage ?? line.end)
  const { organisation } = batch
  const { instance, slow } = worker
  const own = { ...step, worker: worker.id }
  const asked = begin(world, { order, organisation, keyed, instance, slow, line: own })
  asked.frozenUntil = worker.frozenUntil
  line.runs.push(asked)
  log(world, `r${asked.id} is to ${step.step} line ${step.line} of ${step.batch}`)
  const exit = yield* Effect.exit(Effect.provideService(run(asked.caller), OnBehalf, asked))
  if (instance.crashed) return yield* Effect.never
  const answer = yield* reduced(Effect.map(exit, answerOf))
  const kept = answer.replayed === true ? ", which was kept" : ""
  meet(world, `a line to ${step.step} is answered ${answer.code}${kept}`)
  yield* delivered(world, asked, answer)
  return yield* exit
})

const keyPattern = /^.batch (\S+) (\d+) (stage|end)$/

type Step = Omit<LineStep, "worker">

const stepOf = (batches: ReadonlyArray<BatchRecord>, { key }: KeyedRequest): Step | null => {
  const [, id, line, step] = keyPattern.exec(key) ?? []
  if (id === undefined) return null
  return { batch: batchOf(batches, id).name, line: Number(line), step: step as LineStep["step"] }
}

const versionOf = (payload: Wire): number =>
  objectsAt(payload, "notes").reduce(
    (found, { body }) => Number(/^version (\d+)$/.exec(String(body))?.[1] ?? found),
    Number.NaN
  )

/** The line with this payload that the worker holds: a version, or the name of what is staged. */
const preparing = (world: World, worker: SentRequest | null, payload: Wire): Step | null => {
  const session = world.sessions.findLast(({ request }) => request === worker)
  if (session === undefined) return null
  const batch = batchOf(world.batches, session.chunk.batch.id)
  const version = versionOf(payload)
  const number = payload["external_account_number"]
  const found = session.chunk.lines.find(({ line }) => {
    const { key, stage } = lineOf(batch, line)
    return stage === null ? key.external_account_number === number : stage.version === version
  })
  return found === undefined ? null : { batch: batch.name, line: found.line, step: "prepare" }
}

/** Runs with the caller of the step, whom the audit log then names. */
const asStep = <A, E>(
  caller: Caller,
  run: (caller: Caller) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.flatMap(OnBehalf, (asked) => run(asked?.caller ?? caller))

const prepared: Answer = { code: "ok", message: "prepared" }

/** The programs, and the results of lines as the simulation reads them. */
export const lineProgramsOf = (world: World, programs: Programs): LinePrograms => {
  const { accountImport, importRevert, postImport, writes } = programs
  const preparingLine = <A, E>(
    caller: Caller,
    body: unknown,
    run: (own: Caller) => Effect.Effect<A, E>
  ) =>
    Effect.flatMap(OnBehalf, (worker) => {
      const { payload } = body as { readonly payload: Wire }
      const step = preparing(world, worker, payload)
      return step === null ? run(caller) : runStep(world, step, null, run, () => prepared)
    })
  const run: LinePrograms["writes"]["run"] = (request, textOf, write) => {
    const step = stepOf(world.batches, request)
    const running = writes.run(request, textOf, write)
    if (step === null) return running
    return runStep(
      world,
      step,
      request,
      () => running,
      (written): Answer =>
        written._tag === "Replayed"
          ? { code: "ok", message: readKept(written.text).message, replayed: true }
          : { code: "ok", message: readKept(finish(textOf(written.answer))).message }
    )
  }
  return {
    accountImport: {
      ...accountImport,
      prepareLine: (caller, body, ...rest) =>
        preparingLine(caller, body, (own) => accountImport.prepareLine(own, body, ...rest)),
      prepareProcessLine: (caller, body, ...rest) =>
        preparingLine(caller, body, (own) => accountImport.prepareProcessLine(own, body, ...rest)),
      stageLine: (caller, ...rest) =>
        asStep(caller, (own) => accountImport.stageLine(own, ...rest)),
      processLine: (caller, ...rest) =>
        asStep(caller, (own) => accountImport.processLine(own, ...rest))
    },
    postImport: {
      ...postImport,
      createNotes: (caller, ...rest) =>
        asStep(caller, (own) => postImport.createNotes(own, ...rest)),
      createTransactions: (caller, ...rest) =>
        asStep(caller, (own) => postImport.createTransactions(own, ...rest))
    },
    importRevert: {
      ...importRevert,
      revertLine: (caller, ...rest) =>
        asStep(caller, (own) => importRevert.revertLine(own, ...rest))
    },
    writes: { run },
    encoderOf: () => encodeResult
  }
}
