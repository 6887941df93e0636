/** What every store of audit heads must do: keep a text for ever, and return the latest. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { AuditHeadStore, type WriteText } from "../src/audit/AuditHeadStore.ts"

const pieces =
  (...all: ReadonlyArray<string>): WriteText<never> =>
  (write) =>
    Effect.sync(() => all.forEach(write))

/**
 * Declares the suite under `name`; the layer, an empty store, is built for each test. A server that
 * ignores conditions of a PUT is not tested for replacing a text.
 */
export const auditHeadStoreContract = <E>(
  name: string,
  layer: Layer.Layer<AuditHeadStore, E>,
  { isChecked }: { readonly isChecked: boolean }
): void => {
  describe(`AuditHeadStore, ${name}`, () => {
    it.live("is empty at first", () =>
      Effect.gen(function* () {
        const store = yield* AuditHeadStore
        expect(yield* store.latest).toEqual(Option.none())
        expect(yield* store.isKept("2026-01-01")).toBe(false)
      }).pipe(Effect.provide(layer))
    )

    it.live("returns the text of the last name, whenever it was kept", () =>
      Effect.gen(function* () {
        const store = yield* AuditHeadStore
        expect(yield* store.keep("2026-01-02", pieces("Zwei: ", "\u{1F600}\n"))).toBe(true)
        expect(yield* store.keep("2026-01-01", pieces("one"))).toBe(true)
        const latest = { name: "2026-01-02", text: "Zwei: \u{1F600}\n" }
        expect(yield* store.latest).toEqual(Option.some(latest))
        expect(yield* store.isKept("2026-01-01")).toBe(true)
        expect(yield* store.isKept("2026-01")).toBe(false)
      }).pipe(Effect.provide(layer))
    )

    it.live.skipIf(!isChecked)("keeps the first text of a name", () =>
      Effect.gen(function* () {
        const store = yield* AuditHeadStore
        yield* store.keep("2026-01-01", pieces("first"))
        expect(yield* store.keep("2026-01-01", pieces("second"))).toBe(false)
        expect(Option.getOrThrow(yield* store.latest).text).toBe("first")
      }).pipe(Effect.provide(layer))
    )

    it.live("keeps no part of a text that fails", () =>
      Effect.gen(function* () {
        const store = yield* AuditHeadStore
        const failing: WriteText<string> = (write) =>
          Effect.andThen(
            Effect.sync(() => write("a part")),
            Effect.fail("away")
          )
        expect(yield* Effect.flip(store.keep("2026-01-01", failing))).toBe("away")
        expect(yield* store.latest).toEqual(Option.none())
      }).pipe(Effect.provide(layer))
    )

    it.live("finds the last one of many", () =>
      Effect.gen(function* () {
        const store = yield* AuditHeadStore
        const names = Array.from({ length: 250 }, (_, day) => `day ${1_000 + day}`)
        yield* Effect.forEach(names, (each) => store.keep(each, pieces(each)))
        const latest = { name: "day 1249", text: "day 1249" }
        expect(yield* store.latest).toEqual(Option.some(latest))
      }).pipe(Effect.provide(layer))
    )
  })
}
