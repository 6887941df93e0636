/** Every planted defect, with the run that reveals it. */
import { hasBatches } from "../Conditions.ts"
import { backendInMemory, modelLog, simulateInMemory } from "../InMemory.ts"
import { brokenBatches } from "./brokenBatches.ts"
import { brokenImports } from "./brokenImports.ts"
import { brokenKeys } from "./brokenKeys.ts"
import { brokenReverts } from "./brokenReverts.ts"
import type { Planted } from "./Planted.ts"

export interface Defect {
  readonly what: string
  /** The seed that reveals it, as far as it is known. */
  readonly seed: number
  readonly hasBatches: boolean
  /** What the run of a seed finds; null for nothing. */
  readonly found: (seed: number) => string | null
}

const defectOf = (what: string, planted: Planted, onlyClients: boolean): Defect => {
  const { programs, seed, seen = seed, storage } = planted
  const group = storage === undefined ? "programs" : "storage"
  const pronoun = storage === undefined ? "them" : "it"
  const isOfBatches = Object.hasOwn(brokenBatches, what)
  const steps = isOfBatches ? 150 : 250
  const backend = backendInMemory(storage, { onlyClients, ...(programs && { mutate: programs }) })
  return {
    what: `${group}${onlyClients ? `, as clients see ${pronoun}` : ""}: ${what}`,
    seed: onlyClients ? seen : seed,
    hasBatches: isOfBatches,
    found: (seed) =>
      simulateInMemory(seed, steps, backend, onlyClients ? null : modelLog(seed, steps)).failure
  }
}

/** Each compared with the model, and each that clients notice without it. */
export const defects: ReadonlyArray<Defect> = Object.entries({
  ...brokenImports,
  ...brokenKeys,
  ...brokenReverts,
  ...brokenBatches
}).flatMap(([what, planted]) => [
  defectOf(what, planted, false),
  ...(planted.seen === undefined ? [] : [defectOf(what, planted, true)])
])

const mostSeeds = 4_000

/** The first seed that reveals the defect; the known one is tried before the others. */
export const witnessOf = ({ found, hasBatches: isOfBatches, seed }: Defect): number | undefined => {
  const all = Array.from({ length: mostSeeds }, (_, index) => index + 1)
  const fitting = isOfBatches ? all.filter(hasBatches) : all
  return [seed, ...fitting].find((each) => found(each) !== null)
}
