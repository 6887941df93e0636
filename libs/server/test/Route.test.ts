import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "@data-import/api/Limits"
import { SystemGroup } from "@data-import/api/SystemApi"
import * as Answer from "../src/http/Answer.ts"
import * as Route from "../src/routing/Route.ts"

const { body_bytes: _, ...incomplete } = limits

// The types are what is tested: an expected error that is none fails the type check.
describe("a handler compiles", () => {
  it("with the status and body that its endpoint declares", () => {
    Route.handle(SystemGroup, { getLimits: () => Effect.succeed(Answer.json(200, limits)) })
  })

  it("not with another status", () => {
    // @ts-expect-error the endpoint answers 200
    Route.handle(SystemGroup, { getLimits: () => Effect.succeed(Answer.json(201, limits)) })
  })

  it("not without a field of the body", () => {
    // @ts-expect-error body_bytes is missing
    Route.handle(SystemGroup, { getLimits: () => Effect.succeed(Answer.json(200, incomplete)) })
  })

  it("not with a field of another type", () => {
    const body = { ...limits, body_bytes: "10" }
    // @ts-expect-error body_bytes is a number
    Route.handle(SystemGroup, { getLimits: () => Effect.succeed(Answer.json(200, body)) })
  })
})
