/** Runs on the memory adapters. Each run is one synchronous computation. */
import { Effect } from "effect"
import type { MemoryStore } from "@data-import/domain/testing/memory/Store"
import { type Report, simulate } from "./Simulation.ts"
import { memory } from "./MemoryStorage.ts"
import type { Storage } from "./Storage.ts"
import type { CallScheduler } from "./CallScheduler.ts"
import type { Backend } from "./World.ts"

/** A way to break the adapters, to prove that the simulation finds it. */
export type Mutation = (
  storage: Storage,
  store: MemoryStore["Service"],
  wait: CallScheduler["wait"]
) => Partial<Storage>

/** The memory adapters, broken or not. */
export const backendInMemory = (
  spoil: Mutation = () => ({}),
  rest: Pick<Backend, "mutate" | "onlyClients"> = {}
): Backend => ({
  ...rest,
  storage: (wait) =>
    Effect.map(memory, ({ storage, store }) => ({ ...storage, ...spoil(storage, store, wait) })),
  settle: (time) => Effect.sync(time.run)
})

/** Runs a seed in memory. */
export const simulateInMemory = (
  seed: number,
  steps: number,
  backend: Backend = backendInMemory(),
  model: ReadonlyArray<string> | null = null
): Report => Effect.runSync(simulate(seed, steps, backend, model))

const logs = new Map<string, ReadonlyArray<string>>()

/** The log of the model for this run. */
export const modelLog = (seed: number, steps: number): ReadonlyArray<string> => {
  const name = `${seed} ${steps}`
  const log = logs.get(name) ?? simulateInMemory(seed, steps).log
  logs.set(name, log)
  return log
}
