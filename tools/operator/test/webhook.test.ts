/** How the operator sets up webhooks. */
import { EventLog } from "@data-import/domain/events/EventLog"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { stageAll } from "@data-import/domain/testing/importStates"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { arrange } from "./commandLine.ts"

const url = "https://receiver.example/events"

/** An organisation with a supplier and three events, and the operator on its storage. */
const arrangeEvents = Effect.gen(function* () {
  const arranged = yield* arrange
  const owner = yield* Effect.gen(function* () {
    const found = yield* freshSupplier
    yield* stageAll(["a", "b", "c"].map(found.keyOf), found.caller)
    yield* (yield* EventLog).assignPositions(10)
    return found
  }).pipe(Effect.provideContext(arranged.ports))
  const { json } = arranged
  const organisation = owner.caller.organisation
  const create = (...flags: ReadonlyArray<string>) =>
    Effect.map(
      json("webhook", "create", organisation, url, ...flags),
      (made) => made as { readonly id: string; readonly secret: string }
    )
  const sessionOf = Effect.gen(function* () {
    const at = yield* DateTime.now
    const webhooks = yield* Webhooks
    return yield* webhooks.take({ at, until: DateTime.add(at, { seconds: 30 }) })
  }).pipe(Effect.provideContext(arranged.ports))
  return { ...arranged, owner, organisation, create, sessionOf }
})

describe("webhook create", () => {
  it.effect("prints the secret once, and lists without it", () =>
    Effect.gen(function* () {
      const { create, done, json, organisation, owner } = yield* arrangeEvents
      const events = "data_import.batch.completed-v1,data_import.batch.cancelled-v1"
      const { id, secret } = yield* create("--supplier", owner.supplier.code, "--event", events)
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(yield* json("webhook", "list")).toEqual([
        {
          id,
          organisation,
          url,
          suppliers: [owner.supplier.code],
          events: events.split(","),
          allow_private: false,
          state: "ACTIVE",
          delivered_through: 3,
          failures: 0,
          last_error: null,
          last_success_at: null,
          next_try_at: null
        }
      ])
      expect(yield* done("webhook", "list")).not.toContain("whsec_")
      expect(yield* json("webhook", "list", "--organisation", "nobody")).toEqual([])
    })
  )

  it.effect("refuses addresses that are not public, unless they are allowed", () =>
    Effect.gen(function* () {
      const { done, organisation, refused } = yield* arrangeEvents
      const hosts = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[fd00::1]", "2130706433"]
      for (const host of hosts) {
        const target = `https://${host}/`
        yield* refused(["webhook", "create", organisation, target], "is not public")
        yield* done("webhook", "create", organisation, target, "--allow-private")
      }
      yield* refused(["webhook", "create", organisation, "http://receiver.example/"], "not https")
    })
  )

  it.effect("refuses what does not exist, and what is no URL", () =>
    Effect.gen(function* () {
      const { organisation, ports, refused } = yield* arrangeEvents
      const other = yield* Effect.provideContext(freshSupplier, ports)
      const create = ["webhook", "create", organisation, url]
      yield* refused(["webhook", "create", "nobody", url], "nobody")
      yield* refused([...create, "--supplier", other.supplier.code], "There is no supplier")
      for (const wrong of ["receiver", "ftp://receiver.example", "https://a:b@receiver.example"]) {
        yield* refused(["webhook", "create", organisation, wrong], "a URL like https://host/path")
      }
      yield* refused([...create, "--event", "anything"], "names of events")
    })
  )
})

describe("webhook", () => {
  it.effect("rotate gives a new secret, and keeps the old one for a time", () =>
    Effect.gen(function* () {
      const { create, done, json, sessionOf } = yield* arrangeEvents
      const { id, secret } = yield* create()
      const rotated = (yield* json("webhook", "rotate", id, "--old-valid-for", "2h")) as {
        readonly secret: string
      }
      expect(rotated).toMatchObject({ id, old_valid_until: "2026-03-01T14:00:00Z" })
      yield* done("webhook", "replay", id, "--from", "1", "--to", "3")
      const { secrets } = Option.getOrThrow(yield* sessionOf)
      expect(secrets.map((each) => Redacted.value(each))).toEqual([rotated.secret, secret])
    })
  )

  it.effect("replay takes an event or a range, and not both", () =>
    Effect.gen(function* () {
      const { create, done, refused, sessionOf } = yield* arrangeEvents
      const { id } = yield* create()
      const replay = ["webhook", "replay", id]
      yield* refused(replay, "Give either --event, or --from and --to")
      yield* refused([...replay, "--from", "1"], "Give either")
      yield* refused([...replay, "--from", "3", "--to", "2"], "--from is after --to")
      yield* refused([...replay, "--event", crypto.randomUUID()], "There is no such event")
      yield* done(...replay, "--from", "2", "--to", "3")
      yield* refused([...replay, "--from", "1", "--to", "3"], "A replay of this webhook is running")
      const { webhook } = Option.getOrThrow(yield* sessionOf)
      expect(webhook.replay).toEqual({ next: 2, to: 3 })
    })
  )

  it.effect("disable and enable stop it and let it go on", () =>
    Effect.gen(function* () {
      const { create, done, json, sessionOf } = yield* arrangeEvents
      const { id } = yield* create()
      yield* done("webhook", "replay", id, "--from", "1", "--to", "1")
      yield* done("webhook", "disable", id)
      expect(yield* json("webhook", "list")).toMatchObject([{ state: "DISABLED_BY_OPERATOR" }])
      expect(Option.isNone(yield* sessionOf)).toBe(true)
      yield* done("webhook", "enable", id)
      expect(Option.isSome(yield* sessionOf)).toBe(true)
    })
  )

  it.effect("test stores an event for this webhook", () =>
    Effect.gen(function* () {
      const { create, done, organisation, ports } = yield* arrangeEvents
      const { id } = yield* create()
      expect(yield* done("webhook", "test", id)).toContain("is on its way")
      const found = yield* Effect.gen(function* () {
        const log = yield* EventLog
        yield* log.assignPositions(10)
        const all = { organisation, after: 3, limit: 10, supplier: null, name: null }
        return yield* log.read(all)
      }).pipe(Effect.provideContext(ports))
      const event = { name: "data_import.webhook.test-v1", webhook: id }
      expect(found).toMatchObject({ events: [event] })
    })
  )

  it.effect.each(["test", "rotate", "disable", "enable"])("%s refuses an unknown one", (verb) =>
    Effect.gen(function* () {
      const { refused } = yield* arrangeEvents
      yield* refused(["webhook", verb, crypto.randomUUID()], "There is no webhook")
      yield* refused(["webhook", verb, "x"], "the id of a webhook")
    })
  )
})
