/** A document store that does not answer: requests wait for it only until a timeout. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Store from "@data-import/documents/testing/SlowStore"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { beginPost, until } from "@data-import/server/testing/RunningService"
import {
  accountOf,
  isInProgress,
  process,
  processPath,
  serviceWith,
  stage,
  uncheckedImport
} from "./importService.ts"

const service = Layer.unwrap(
  Effect.map(Store.SlowStore, ({ settings }) => serviceWith(settings))
).pipe(Layer.provideMerge(Store.layer))

const waiting = Effect.map(Store.SlowStore, (store) => store.waiting())

const silently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Store.SlowStore, ({ keepSilent }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => keepSilent(true)),
      () => effect,
      () => Effect.sync(() => keepSilent(false))
    )
  )

/** Sooner than the lookups would time out. */
const soon = "3 seconds"

layer(service, { excludeTestServices: true })("a document store that does not answer", (it) => {
  describe("is no longer waited for once the client disconnects", () => {
    it.effect("from process, and the import is released", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* uncheckedImport()
        const body = { payload: { ...key, operations_team_name: team } }
        yield* silently(
          Effect.gen(function* () {
            const connection = yield* beginPost(tenant, processPath, "left-process", body)
            yield* until(waiting, (count) => count > 0)
            expect(yield* isInProgress(key)).toBe(true)
            connection.reset()
            yield* Effect.timeout(
              until(waiting, (count) => count === 0),
              soon
            )
            yield* until(isInProgress(key), (held) => !held)
          })
        )
        expect((yield* process(tenant, key)).status).toBe(201)
      })
    )
  })

  it.effect("is waited for until the timeout, and then the answer is 503", () =>
    Effect.gen(function* () {
      const { key, tenant } = yield* uncheckedImport()
      const reply = yield* silently(stage(tenant, accountOf(key)))
      expect(reply.status).toBe(503)
      expect(reply.headers["retry-after"]).toBe("1")
    })
  )
})
