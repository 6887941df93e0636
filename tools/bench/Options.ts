/** The options of the commands, read with care: what is not understood is told, not guessed. */
import { parseArgs } from "node:util"
import { Data } from "effect"
import { type WorkName, workNames } from "./Works.ts"

/** What was asked for cannot be run. */
export class Misunderstood extends Data.TaggedError("Misunderstood")<{
  readonly message: string
}> {}

export interface Options {
  readonly works: ReadonlyArray<WorkName>
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly minutes: number
  /** Of what the services can do. */
  readonly share: number
  readonly sizes: ReadonlyArray<number>
  readonly short: boolean
  readonly write: boolean
  readonly profile: boolean
  /** Of the gateway, in place of the service behind it. */
  readonly gateway: boolean
}

const number = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!(value > 0)) throw new Misunderstood({ message: `--${name} takes a positive number` })
  return value
}

const chosenWorks = (text: string | undefined): ReadonlyArray<WorkName> => {
  if (text === undefined) return workNames
  return text.split(",").map((name) => {
    const found = workNames.find((known) => known === name)
    if (found !== undefined) return found
    throw new Misunderstood({ message: `There is no work ${name}, but ${workNames.join(", ")}` })
  })
}

const definitions = {
  work: { type: "string" },
  pairs: { type: "string" },
  seconds: { type: "string" },
  connections: { type: "string" },
  minutes: { type: "string" },
  share: { type: "string" },
  sizes: { type: "string" },
  short: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  gateway: { type: "boolean", default: false }
} as const

/** @throws Misunderstood */
export const optionsOf = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({ args: [...args], options: definitions })
  const { gateway, profile, short, write } = values
  const sizes = values.sizes ?? (short ? "1000,10000" : "1000,100000,1000000")
  return {
    works: chosenWorks(values.work),
    pairs: number("pairs", values.pairs, short ? 2 : 5),
    seconds: number("seconds", values.seconds, short ? 1 : 2),
    connections: number("connections", values.connections, 32),
    minutes: number("minutes", values.minutes, short ? 0.5 : 10),
    share: number("share", values.share, 1),
    sizes: sizes.split(",").map((size) => number("sizes", size, 0)),
    short,
    write,
    profile,
    gateway
  }
}
