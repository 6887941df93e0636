/**
 * The contract of searching the audit log. The one in memory cannot be searched.
 */
import type { Vitest } from "@effect/vitest"
import { expect, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { type AuditFilter, AuditLog } from "../src/audit/AuditLog.ts"
import { ApiKeyId, RequestId } from "../src/suppliers/Organisation.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { callerOf, freshSupplier, sandboxOf, noonPlus } from "./freshNames.ts"

type Ports = AuditLog | ImportProcesses | Configuration

/** Six entries, a second apart: two of `a`, one of `b`, one of the supplier, and two of another. */
const arranged = Effect.gen(function* () {
  const { recordRead } = yield* AuditLog
  const mine = yield* freshSupplier
  const other = yield* freshSupplier
  const second = callerOf(mine.caller.organisation)
  const of = (number: string | null) =>
    number === null
      ? { import_supplier: mine.supplier.code, external_account_number: null }
      : mine.keyOf(number)
  const action = "read_import"
  yield* recordRead({ key: of("a"), action, caller: mine.caller, at: noonPlus(1) })
  yield* recordRead({ key: of("a"), action: "read_account", caller: second, at: noonPlus(2) })
  yield* recordRead({ key: of("b"), action, caller: mine.caller, at: noonPlus(3) })
  yield* recordRead({ key: of(null), action: "read_batch", caller: second, at: noonPlus(4) })
  const foreign = other.keyOf("a")
  yield* recordRead({ key: foreign, action, caller: other.caller, at: noonPlus(5) })
  yield* recordRead({ key: foreign, action, caller: mine.caller, at: noonPlus(6) })
  return { mine, other, second }
})

/** The seconds at which the found entries were written, page by page. */
const found = Effect.fnUntraced(function* (filter: AuditFilter, limit: number) {
  const { search } = yield* AuditLog
  const seconds: Array<number> = []
  let before: bigint | null = null
  do {
    const page: Effect.Success<ReturnType<typeof search>> = yield* search({ filter, before, limit })
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    for (const { at } of page.entries) {
      seconds.push((at.epochMilliseconds - noonPlus(0).epochMilliseconds) / 1_000)
    }
    before = page.next
  } while (before !== null)
  return seconds
})

const searching = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("finds the entries that match every condition, the newest first", () =>
    Effect.gen(function* () {
      const { mine, other, second } = yield* arranged
      const own = { organisations: [mine.supplier.organisation] }
      const both = { organisations: [mine.supplier.organisation, other.supplier.organisation] }
      const { code: supplier } = mine.supplier
      const cases: ReadonlyArray<readonly [AuditFilter, ReadonlyArray<number>]> = [
        [own, [6, 4, 3, 2, 1]],
        [both, [6, 5, 4, 3, 2, 1]],
        [{ organisations: [] }, []],
        [{ ...own, supplier }, [4, 3, 2, 1]],
        [{ ...own, supplier: other.supplier.code }, [6]],
        [{ ...own, supplier, number: "a" }, [2, 1]],
        [{ organisations: null, supplier: other.supplier.code, number: "a" }, [6, 5]],
        [{ ...own, number: "b" }, [3]],
        [{ ...own, supplier, number: "a\0" }, []],
        [{ ...own, apiKey: second.apiKey }, [4, 2]],
        [{ ...own, action: "read_import" }, [6, 3, 1]],
        [{ ...own, action: "unknown" }, []],
        [{ ...own, from: noonPlus(2), to: noonPlus(4) }, [3, 2]],
        [{ ...own, supplier, number: "a", from: noonPlus(2) }, [2]]
      ]
      for (const [filter, seconds] of cases) {
        for (const limit of [1, 2, 100]) {
          const label = `${Object.keys(filter).join(" ")} by ${limit}`
          expect(yield* found(filter, limit), label).toEqual(seconds)
        }
      }
    })
  )

  it.effect("finds actions of people, without those of API keys, or of workers in their name", () =>
    Effect.gen(function* () {
      const { recordRead } = yield* AuditLog
      const { caller, keyOf, supplier } = yield* freshSupplier
      const callers = [
        caller,
        { ...caller, apiKey: ApiKeyId.make("board:Maria") },
        { ...caller, apiKey: ApiKeyId.make("operator:ops") },
        {
          ...caller,
          apiKey: ApiKeyId.make("board:Maria"),
          requestId: RequestId.make("batch-00000000-0000-4000-8000-000000000001")
        },
        { ...caller, apiKey: ApiKeyId.make("boarder") }
      ]
      for (const [index, one] of callers.entries()) {
        const at = noonPlus(index)
        yield* recordRead({ key: keyOf("a"), action: "read_import", caller: one, at })
      }
      const of = { organisations: [supplier.organisation] }
      expect(yield* found({ ...of, isByPerson: true }, 1)).toEqual([2, 1])
      expect(yield* found({ ...of, isByPerson: true, apiKey: caller.apiKey }, 10)).toEqual([])
      const ofImport = { ...of, supplier: supplier.code, number: "a" }
      expect(yield* found({ ...ofImport, isByPerson: true }, 10)).toEqual([2, 1])
    })
  )

  it.effect("returns the subject of each entry", () =>
    Effect.gen(function* () {
      const { mine } = yield* arranged
      const { search } = yield* AuditLog
      const { apiKey, organisation, requestId } = mine.caller
      const key = mine.keyOf("b")
      const filter = {
        organisations: [organisation],
        supplier: mine.supplier.code,
        number: "b"
      }
      const { entries, next } = yield* search({ filter, before: null, limit: 10 })
      expect(next).toBeNull()
      const entry = { at: noonPlus(3), organisation, apiKey, requestId }
      const told = { ...entry, ...key, action: "read_import", outcome: "read" }
      expect(entries).toEqual([{ ...told, id: expect.any(BigInt) as bigint }])
    })
  )

  it.effect("finds no entries of test suppliers", () =>
    Effect.gen(function* () {
      const { recordRead } = yield* AuditLog
      const { caller, supplier } = yield* sandboxOf(yield* freshSupplier)
      const key = { import_supplier: supplier.code, external_account_number: null }
      yield* recordRead({ key, action: "read_batch", caller, at: noonPlus(1) })
      expect(yield* found({ organisations: [supplier.organisation] }, 10)).toEqual([])
    })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const auditSearchContract = <E>(name: string, layer: Layer.Layer<Ports, E>): void => {
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `searching AuditLog, ${name}`,
    (it) => {
      searching(it)
    }
  )
}
