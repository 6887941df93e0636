/** Every planted defect of the simulation, with the seed that reveals it. */
import { hasBatches } from "../Conditions.ts"
import { backendInMemory, type Mutation, simulateInMemory } from "../InMemory.ts"
import type { Programs } from "../Programs.ts"
import type { Backend } from "../World.ts"
import { brokenAdapters, brokenPrograms } from "./brokenAdapters.ts"
import { brokenBatches, brokenBatchPrograms } from "./brokenBatches.ts"
import { brokenKeyPrograms, brokenKeys } from "./brokenKeys.ts"
import * as Witnesses from "./Witnesses.ts"

export interface Defect {
  readonly what: string
  readonly backend: Backend
  readonly steps: number
  readonly hasBatches: boolean
  /** Undefined as long as none was found. */
  readonly seed: number | undefined
}

type Spoil = (programs: Programs) => Programs

const ofStorage = { ...brokenAdapters, ...brokenKeys, ...brokenBatches }
const ofPrograms = { ...brokenPrograms, ...brokenKeyPrograms, ...brokenBatchPrograms }

const isOfBatches = (what: string): boolean =>
  Object.hasOwn(brokenBatches, what) || Object.hasOwn(brokenBatchPrograms, what)

const defectsOf = <Broken>(
  group: string,
  broken: Readonly<Record<string, Broken>>,
  witnesses: Readonly<Record<string, number>>,
  backendOf: (broken: Broken) => Backend
): ReadonlyArray<Defect> =>
  Object.entries(broken).map(([what, each]) => ({
    what: `${group}: ${what}`,
    backend: backendOf(each),
    steps: isOfBatches(what) ? 150 : 250,
    hasBatches: isOfBatches(what),
    seed: witnesses[what]
  }))

/** Those that have a witness: some defects only show in storage. */
const shown = <Broken>(
  broken: Readonly<Record<string, Broken>>,
  witnesses: Readonly<Record<string, number>>
) => Object.fromEntries(Object.entries(broken).filter(([what]) => Object.hasOwn(witnesses, what)))

const onlyClients = true

export const defects: ReadonlyArray<Defect> = [
  ...defectsOf("storage", ofStorage, Witnesses.storage, (spoil: Mutation) =>
    backendInMemory(spoil)
  ),
  ...defectsOf("programs", ofPrograms, Witnesses.programs, (mutate: Spoil) =>
    backendInMemory(undefined, { mutate })
  ),
  ...defectsOf(
    "storage, as clients see it",
    shown(ofStorage, Witnesses.storageSeen),
    Witnesses.storageSeen,
    (spoil: Mutation) => backendInMemory(spoil, { onlyClients })
  ),
  ...defectsOf(
    "programs, as clients see them",
    shown(ofPrograms, Witnesses.programsSeen),
    Witnesses.programsSeen,
    (mutate: Spoil) => backendInMemory(undefined, { onlyClients, mutate })
  )
]

const mostSeeds = 4_000

/** The first seed that reveals the defect; its witness is tried before the others. */
export const witnessOf = ({ backend, seed, steps, ...defect }: Defect): number | undefined => {
  const all = Array.from({ length: mostSeeds }, (_, index) => index + 1)
  const fitting = defect.hasBatches ? all.filter(hasBatches) : all
  return [...(seed === undefined ? [] : [seed]), ...fitting].find(
    (each) => simulateInMemory(each, steps, backend).failure !== null
  )
}
