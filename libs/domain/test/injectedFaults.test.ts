/** Injected faults happen where the plan says, with the documented effects. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, Stream } from "effect"
import { Documents, DocumentsUnavailable } from "../src/ports/Documents.ts"
import { ImportProcesses } from "../src/ports/ImportProcesses.ts"
import { layerMemory as documents } from "../src/ports/memory/Documents.ts"
import { layerMemory as auditLog } from "../src/ports/memory/AuditLog.ts"
import { layerMemory as importProcesses } from "../src/ports/memory/ImportProcesses.ts"
import { layerMemory as configuration } from "../src/ports/memory/Configuration.ts"
import { Configuration } from "../src/ports/Configuration.ts"
import { DocumentPath } from "../src/schema/DocumentPath.ts"
import { stateAt } from "../src/account/ImportProcess.ts"
import {
  allFaults,
  type Fault,
  faultAtCall,
  faultAtEvery,
  faultAtStep,
  type FaultPlan,
  faulty,
  InjectedDefect,
  noFaults,
  withFaults
} from "../testing/faults.ts"
import { expectSame, newAccountFor, noon, noonPlus } from "../testing/freshNames.ts"
import { arrange, claim, tracesOf, stagedHash } from "../testing/importStates.ts"

const storage = Layer.mergeAll(importProcesses, auditLog, configuration)

/** Runs `run` on ports with the faults of the plan. */
const under = <A, E, R>(plan: FaultPlan, run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const imports = withFaults(ImportProcesses, yield* ImportProcesses, plan)
    return yield* Effect.provideService(run, ImportProcesses, imports)
  })

/** Stages, claims and completes: the three steps of the shortest way to an account. */
const journey = Effect.fnUntraced(function* ({
  caller,
  key
}: Effect.Success<ReturnType<typeof arrange>>) {
  const imports = yield* ImportProcesses
  yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
  const { attempt } = yield* claim(key, caller, noon)
  const newAccount = newAccountFor(key, noonPlus(20))
  return yield* imports.complete({ key, attempt, newAccount, caller })
})

const defectOf = <A, E>(exit: Exit.Exit<A, E>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

describe("a fault plan", () => {
  it.effect("without faults lets all calls pass and counts them", () =>
    Effect.gen(function* () {
      const plan = noFaults()
      const arranged = yield* arrange("none")
      expectSame(yield* under(plan, journey(arranged)), { _tag: "Completed" })
      const port = ImportProcesses.key
      expect(plan.calls()).toStrictEqual([
        { port, operation: "stage", nth: 1, step: 1 },
        { port, operation: "claim", nth: 1, step: 2 },
        { port, operation: "complete", nth: 1, step: 3 }
      ])
    }).pipe(Effect.provide(storage))
  )

  it.effect("injects a fault into the named call only", () =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("none")
      const plan = faultAtCall("stage", { kind: "unavailable", when: "before" }, 2)
      const staging = Effect.flatMap(ImportProcesses, (imports) =>
        imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      )
      const tags = yield* under(plan, Effect.all([staging, staging, staging].map(Effect.exit)))
      expect(tags.map((exit) => exit._tag)).toStrictEqual(["Success", "Failure", "Success"])
    }).pipe(Effect.provide(storage))
  )
})

describe("an injected fault", () => {
  it.effect.each(allFaults)("of kind $kind happens $when the step", ({ kind, when }) =>
    Effect.gen(function* () {
      const arranged = yield* arrange("none")
      const plan = faultAtCall("complete", { kind, when })
      const exit = yield* Effect.exit(under(plan, journey(arranged)))
      const defect = defectOf(exit)
      if (kind === "unavailable") {
        expect(defect).toMatchObject({ _tag: "StorageUnavailable" })
      } else {
        assert.instanceOf(defect, InjectedDefect)
        expect(defect.message).toContain(`${kind} injected at complete #1`)
      }
      const { process } = yield* tracesOf(arranged.key)
      assert(process !== null)
      const state = stateAt(process, noonPlus(30))._tag
      expect(state).toBe(when === "before" ? "InProgress" : "Imported")
    }).pipe(Effect.provide(storage))
  )

  const ends = (kind: Fault["kind"]) =>
    Effect.gen(function* () {
      const { attempt, caller, key } = yield* arrange("in progress")
      const program = Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const end = { outcome: "error", errors: [], dryRun: false, caller, at: noon } as const
        const newAccount = newAccountFor(key, noonPlus(20))
        return yield* imports
          .complete({ key, attempt, newAccount, caller })
          .pipe(Effect.ensuring(Effect.orDie(imports.release({ key, attempt, ...end }))))
      })
      const plan = faultAtCall("complete", { kind, when: "before" })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(under(plan, program))))
      const imports = yield* ImportProcesses
      return Option.getOrThrow(yield* imports.find(key)).lease
    }).pipe(Effect.provide(storage))

  it.effect("lets the program clean up unless it is a crash", () =>
    Effect.gen(function* () {
      expect(yield* ends("defect"), "given back").toBeNull()
      expect(yield* ends("crash"), "still held").not.toBeNull()
    })
  )

  it.effect("crashes all ports of a plan together", () =>
    Effect.gen(function* () {
      const plan = faultAtStep(1, { kind: "crash", when: "before" })
      const layer = Layer.mergeAll(
        faulty(ImportProcesses, importProcesses, plan),
        faulty(Configuration, configuration, plan)
      )
      const program = Effect.gen(function* () {
        const configuration = yield* Configuration
        const imports = yield* ImportProcesses
        const { key } = yield* Effect.provide(arrange("none"), storage)
        const first = yield* Effect.exit(imports.find(key))
        const second = yield* Effect.exit(configuration.createTeam("never"))
        return [defectOf(first), defectOf(second)]
      })
      const defects = yield* Effect.provide(program, layer)
      for (const defect of defects) assert.instanceOf(defect, InjectedDefect)
      expect(plan.calls(), "what comes after the crash is no step").toHaveLength(1)
    })
  )
})

describe("a fault in an operation of another form", () => {
  it.effect("replaces a constant effect each time it runs", () =>
    Effect.gen(function* () {
      const plan = faultAtCall("teams", { kind: "unavailable", when: "after" }, 2)
      const { teams } = withFaults(Configuration, yield* Configuration, plan)
      expect(yield* teams).toStrictEqual([])
      expect(yield* Effect.flip(teams)).toMatchObject({ _tag: "StorageUnavailable" })
      expect(yield* teams).toStrictEqual([])
    }).pipe(Effect.provide(storage))
  )

  it.effect.each([
    { when: "before", read: 0 },
    { when: "after", read: 1 }
  ] as const)("ends a stream $when its elements", ({ read, when }) =>
    Effect.gen(function* () {
      const { key } = yield* arrange("pending")
      const plan = faultAtEvery("list", { kind: "unavailable", when })
      const imports = withFaults(ImportProcesses, yield* ImportProcesses, plan)
      const seen: Array<string> = []
      const query = {
        supplier: key.import_supplier,
        kind: "all",
        after: null,
        limit: null
      } as const
      const failure = yield* imports.list(query).pipe(
        Stream.runForEach((entry) => Effect.sync(() => seen.push(entry.external_account_number))),
        Effect.flip
      )
      expect(failure).toMatchObject({ _tag: "StorageUnavailable" })
      expect(seen).toHaveLength(read)
    }).pipe(Effect.provide(storage))
  )

  it.effect("has the port's own failure type", () =>
    Effect.gen(function* () {
      const plan = faultAtEvery("find", { kind: "unavailable", when: "before" })
      const layer = faulty(
        Documents,
        documents(new Map([["root/a.pdf", 7]])),
        plan,
        () => new DocumentsUnavailable({})
      )
      const find = Effect.flatMap(Documents, (store) =>
        store.find("root", DocumentPath.make("a.pdf"))
      )
      const failure = yield* Effect.flip(Effect.provide(find, layer))
      expect(failure._tag).toBe("DocumentsUnavailable")
    })
  )
})
