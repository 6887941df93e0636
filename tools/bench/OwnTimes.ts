/** What a CPU profile of V8 says of functions: the time of their own. */

export interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      readonly lineNumber: number
    }
  }>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

export interface Spent {
  readonly where: string
  readonly micros: number
}

const placeOf = ({ callFrame }: CpuProfile["nodes"][number]): string => {
  const { functionName, lineNumber, url } = callFrame
  const file = url.split("/node_modules/").at(-1)?.split("/").slice(-3).join("/") ?? ""
  return `${functionName || "(anonymous)"}${file === "" ? "" : ` ${file}:${lineNumber + 1}`}`
}

/** Time of their own by function, the most first. */
export const ownTimes = ({ nodes, samples, timeDeltas }: CpuProfile): ReadonlyArray<Spent> => {
  const places = new Map(nodes.map((node) => [node.id, placeOf(node)]))
  const spent = new Map<string, number>()
  samples.forEach((id, index) => {
    const where = places.get(id) ?? "(unknown)"
    spent.set(where, (spent.get(where) ?? 0) + (timeDeltas[index] ?? 0))
  })
  return [...spent]
    .map(([where, micros]) => ({ where, micros }))
    .toSorted((one, other) => other.micros - one.micros)
}
