/** A document store that does not answer, and clients that do not wait for it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Store from "@data-import/documents/testing/SlowStore"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { auditTables, tablesBut } from "@data-import/postgres/testing/rows"
import { beginPost, until, untilLogged } from "@data-import/server/testing/RunningService"
import {
  bareAccountOf,
  bodyOf,
  importedAccount,
  paths,
  sendSample,
  serviceOn
} from "./postImportService.ts"

const service = Layer.unwrap(
  Effect.gen(function* () {
    const { settings } = yield* Store.SlowStore
    return serviceOn(yield* freshUrl, settings)
  })
).pipe(Layer.provideMerge(Store.layer))

/** Sooner than the lookups would time out. */
const soon = "3 seconds"

layer(service, { excludeTestServices: true })("a document store that does not answer", (it) => {
  it.effect.each(["notes", "statements"] as const)(
    "is no longer waited for once the client disconnects: %s",
    (name) =>
      Effect.gen(function* () {
        const { keepSilent, waiting } = yield* Store.SlowStore
        const account = yield* importedAccount(bareAccountOf, { documentCheck: true })
        const stored = yield* tablesBut(...auditTables)
        const open = Effect.sync(waiting)
        keepSilent(true)
        const id = `left-${name}`
        const connection = yield* beginPost(account.tenant, paths[name], id, bodyOf(name, account))
        yield* until(open, (count) => count > 0)
        connection.reset()
        yield* Effect.timeout(
          until(open, (count) => count === 0),
          soon
        )
        expect(yield* untilLogged(id)).toContain(`"status":499`)
        keepSilent(false)
        expect(yield* tablesBut(...auditTables)).toEqual(stored)
        expect((yield* sendSample(name, account)).status).toBe(201)
      })
  )
})
