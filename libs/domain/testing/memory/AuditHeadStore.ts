/** Keeps heads of audit chains in memory. */
import { Effect, Layer, Option } from "effect"
import { AuditHeadStore } from "../../src/audit/AuditHeadStore.ts"

export const layerMemory: Layer.Layer<AuditHeadStore> = Layer.sync(AuditHeadStore, () => {
  const kept = new Map<string, string>()
  return AuditHeadStore.of({
    isKept: (name) => Effect.sync(() => kept.has(name)),
    keep: (name, text) =>
      Effect.suspend(() => {
        const pieces: Array<string> = []
        return Effect.map(
          text((piece) => pieces.push(piece)),
          () => {
            if (kept.has(name)) return false
            kept.set(name, pieces.join(""))
            return true
          }
        )
      }),
    latest: Effect.sync(() =>
      Option.map(Option.fromNullishOr([...kept.keys()].toSorted().at(-1)), (name) => ({
        name,
        text: kept.get(name) ?? ""
      }))
    )
  })
})
