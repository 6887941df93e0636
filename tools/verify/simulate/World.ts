/** The state of a run, built from its seed. */
import { Clock, Context, Effect, Random, References, Scheduler, type Scope } from "effect"
import type { BatchWorker } from "@data-import/domain/batches/BatchWorker"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { sampleTime } from "@data-import/domain/testing/samples"
import type { BatchRecord } from "./BatchModel.ts"
import type { ChunkSession } from "./ChunkSessions.ts"
import { type Conditions, conditionsOf } from "./Conditions.ts"
import { type RandomSource, randomSource } from "@data-import/testbed/RandomSource"
import { type Checks, makeChecks } from "./Invariants.ts"
import type { Observation } from "./Observation.ts"
import { supplierOf } from "./OperatorCommands.ts"
import { type Programs, programsOn } from "./Programs.ts"
import { type SentRequest, type Instance, nameOf } from "./Request.ts"
import type { Storage } from "./Storage.ts"
import { keysOf, lateSupplier, owners, team } from "./Traffic.ts"
import { type CallScheduler, makeCallScheduler, OnBehalf } from "./CallScheduler.ts"
import { skewed, type VirtualTime, virtualTime } from "./VirtualTime.ts"

/** The storage of a run, and how it waits. */
export interface Backend {
  /** The storage of a run. A broken storage uses `wait` to let other calls in. */
  readonly storage: (wait: CallScheduler["wait"]) => Effect.Effect<Storage, never, Scope.Scope>
  /** Waits until all proceeding calls have ended, and nothing is ready. */
  readonly settle: (time: VirtualTime, scheduler: CallScheduler) => Effect.Effect<void>
  /** Replaces the programs by broken ones. */
  readonly mutate?: (programs: Programs) => Programs
  /** Whether to check only what the clients saw, to prove that this can be enough. */
  readonly onlyClients?: boolean
  /**
   * How many calls may proceed at once, 1 unless given. The storage decides their order, so no
   * other run has the same calls. The stored data and what the clients saw must still be valid.
   */
  readonly burst?: number
}

export interface World {
  readonly backend: Backend
  readonly random: RandomSource
  /** The random numbers that the programs draw. */
  readonly programRandom: Random.Random
  readonly conditions: Conditions
  readonly time: VirtualTime
  readonly scheduler: CallScheduler
  readonly storage: Storage
  /** The programs as a new instance makes them. */
  readonly makePrograms: Effect.Effect<Programs>
  /** Checks that the log is that of the model. */
  readonly modelChecks: Checks
  /** Checks of what is stored. */
  readonly stateChecks: Checks
  /** Checks of what the clients observed. */
  readonly clientChecks: Checks
  readonly keys: ReadonlyArray<ImportKey>
  readonly instances: Array<Instance>
  /** The programs of each instance. Their memory ends with the instance. */
  readonly programs: WeakMap<Instance, Programs>
  /** Every request so far, and those that have not ended. */
  readonly requests: Array<SentRequest>
  readonly running: Set<SentRequest>
  /** By the name of the key: the last observation of the storage. */
  readonly observations: Map<string, Observation>
  /** In the order in which their clients have them. */
  readonly batches: Array<BatchRecord>
  /** The sessions in which workers have held lines. */
  readonly sessions: Array<ChunkSession>
  readonly workers: Map<Instance, BatchWorker>
  /** "root/path" of every document that is there, and of those that are gone for a while. */
  readonly files: Map<string, number>
  readonly vanished: Map<string, number>
  /** The beginnings and ends of all requests, in their order. */
  readonly events: Array<{ readonly what: "asked" | "ended"; readonly asked: SentRequest }>
  readonly log: Array<string>
  /** The log that it has to be, if that is known. */
  readonly model: ReadonlyArray<string> | null
  /** What the log has instead of a line of the model. */
  difference: string | null
  /** The names that random identifiers have in the log. */
  readonly identifiers: Map<string, string>
  /** How often each outcome of a call and each answer occurred. */
  readonly outcomes: Map<string, number>
  steps: number
  /** How many lines of batches there are. */
  linesPlanned: number
  begunInstances: number
}

const setUp = Effect.fnUntraced(function* (
  { configuration }: Storage,
  { documentCheck, supplierLimit }: Conditions
) {
  for (const name of new Set(owners.values()))
    yield* configuration.createOrganisation(name, sampleTime)
  for (const [code, organisation] of owners) {
    if (code === lateSupplier) continue
    yield* configuration.createSupplier({
      ...supplierOf(code, organisation),
      documentCheck,
      concurrencyLimit: supplierLimit
    })
  }
  yield* configuration.createTeam(team)
}, Effect.orDie)

/** A new instance of the services. */
export const newInstance = Effect.fnUntraced(function* (world: World) {
  const { conditions, makePrograms, random } = world
  world.begunInstances += 1
  const skew = Math.round((2 * random.next() - 1) * conditions.skew)
  const instance: Instance = { name: `p${world.begunInstances}`, skew, crashed: false }
  world.programs.set(instance, yield* makePrograms)
  return instance
})

export const programsOf = (world: World, instance: Instance): Programs => {
  const programs = world.programs.get(instance)
  if (programs === undefined) throw new Error(`${instance.name} has no programs`)
  return programs
}

/** Random numbers for the programs. Few account numbers make the programs draw one twice. */
const randomOf = (random: RandomSource, { numbers }: Conditions): Random.Random => ({
  nextIntUnsafe: () => random.below(2 ** 31),
  nextDoubleUnsafe: () => random.below(numbers) / numbers
})

/** The context of a request's fibers. */
export const surroundingsOf = (world: World, asked: SentRequest): Context.Context<never> =>
  Context.mergeAll(
    Context.make(Clock.Clock, skewed(world.time.clock, asked.instance.skew)),
    Context.make(Scheduler.Scheduler, world.time.scheduler),
    Context.make(Random.Random, world.programRandom),
    Context.make(References.MinimumLogLevel, "None"),
    Context.make(References.TracerEnabled, false),
    Context.make(OnBehalf, asked)
  )

const emptyObservation = (key: ImportKey): Observation => ({
  key,
  row: null,
  audit: [],
  events: [],
  accounts: []
})

/** The world of a seed before the first request. */
export const worldOf = Effect.fnUntraced(function* (
  seed: number,
  backend: Backend,
  model: ReadonlyArray<string> | null
) {
  const random = randomSource(seed)
  const conditions = conditionsOf(seed, random)
  const time = virtualTime(sampleTime.epochMilliseconds)
  const scheduler = makeCallScheduler()
  const storage = yield* backend.storage(scheduler.wait)
  yield* setUp(storage, conditions)
  const files = new Map<string, number>()
  const { deploymentLimit } = conditions
  const sessions: Array<ChunkSession> = []
  const made = programsOn({ scheduler, storage, files, deploymentLimit, sessions })
  const keys = keysOf(conditions)
  const world: World = {
    backend,
    random,
    programRandom: randomOf(randomSource(seed, 1), conditions),
    conditions,
    time,
    scheduler,
    storage,
    makePrograms: Effect.map(made, (programs) => backend.mutate?.(programs) ?? programs),
    modelChecks: makeChecks(),
    stateChecks: makeChecks(backend.onlyClients),
    clientChecks: makeChecks(),
    keys,
    instances: [],
    programs: new WeakMap(),
    requests: [],
    running: new Set(),
    observations: new Map(keys.map((key) => [nameOf(key), emptyObservation(key)])),
    batches: [],
    sessions,
    workers: new Map(),
    files,
    vanished: new Map(),
    events: [],
    log: [],
    model,
    difference: null,
    identifiers: new Map(),
    outcomes: new Map(),
    steps: 0,
    linesPlanned: 0,
    begunInstances: 0
  }
  for (let count = 0; count < conditions.instances; count += 1) {
    world.instances.push(yield* newInstance(world))
  }

  return world
})
