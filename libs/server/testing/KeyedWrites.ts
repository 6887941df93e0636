/** The tests of the Idempotency-Key that every endpoint that writes must pass. */
import { describe, expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import type { Configuration } from "@data-import/domain/suppliers/Configuration"
import type { ApiKeys } from "@data-import/domain/access/ApiKeys"
import type { TokenSecrets } from "@data-import/domain/access/TokenSigner"
import type { Listening } from "../src/lifecycle/Service.ts"
import { ask, errorsOf, jsonHeaders, post } from "./RunningService.ts"
import { freshOrganisation } from "@data-import/domain/testing/freshNames"
import { freshToken } from "./Tenant.ts"
import type { TokenIssuer } from "./TokenIssuer.ts"

/** A request that stores something the first time. */
export interface KeyedRequest {
  readonly path: string
  readonly token: string
  readonly organisation: Parameters<typeof freshToken>[0]
  readonly body: object
}

type Common = Listening | Configuration | ApiKeys | TokenSecrets | TokenIssuer

export interface KeyedWrite<R> {
  readonly name: string
  /** The code of the refusal of a request that breaks a rule. */
  readonly failed: string
  /** A new request, on an import of its own. */
  readonly fresh: Effect.Effect<KeyedRequest, unknown, R>
  /** All tables that the request could change, except the keys. */
  readonly stored: Effect.Effect<unknown, unknown, R>
  /** Makes it look as if the request that kept its answer under this key were still running. */
  readonly takeAnswerBack: (key: string) => Effect.Effect<unknown, unknown, R>
}

const header = "idempotency-key"

const send = ({ body, path, token }: KeyedRequest, key: string) =>
  post(path, token, body, { [header]: key })

const freshKey = () => crypto.randomUUID()

const isReplayed = ({ headers }: Reply): boolean => headers["idempotency-replayed"] === "true"

/** The parts of an answer that are the same in a repeat. */
const comparable = ({ headers, status, text }: Reply) => {
  const { date: _, "idempotency-replayed": __, "x-request-id": ___, ...same } = headers
  return { status, text, headers: same }
}

const withQuery = (request: KeyedRequest): KeyedRequest => ({
  ...request,
  path: `${request.path}?`
})

const quoted = (key: string): string => `"${key.replaceAll(/["\\]/g, "\\$&")}"`

/** Headers that name no key, one for each way that the transport could treat differently. */
const malformed: ReadonlyArray<readonly [what: string, value: string]> = [
  ["empty", ""],
  ["too long", "x".repeat(256)],
  ["two of them", "a, b"],
  ["without its last quote", `"a`],
  ["beyond ASCII", `"\u00e6"`],
  ["with a tab", `"a\tb"`]
]

const answers = <R>(it: Vitest.MethodsNonLive<Common | R>, write: KeyedWrite<Common | R>): void => {
  it.effect("answers a repeat byte for byte, and stores nothing for it", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      const first = yield* send(request, key)
      expect(first.status, first.text).toBe(201)
      expect(isReplayed(first)).toBe(false)
      const stored = yield* write.stored
      for (const spelling of [key, quoted(key)]) {
        const again = yield* send(request, spelling)
        expect(isReplayed(again)).toBe(true)
        expect(comparable(again)).toEqual(comparable(first))
      }
      expect(yield* write.stored).toEqual(stored)
    })
  )

  it.effect("refuses the key to another body, query or path", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      yield* send(request, key)
      const stored = yield* write.stored
      const others = [
        { ...request, body: { ...request.body, more: 1 } },
        {
          ...request,
          body: JSON.parse(JSON.stringify(request.body)) as object,
          path: `${request.path}?a=`
        },
        withQuery(request)
      ]
      for (const other of others) {
        const refused = yield* send(other, key)
        expect(refused.json).toMatchObject({ code: "idempotency_key_reused" })
        expect(refused.status).toBe(422)
      }
      const spaced = yield* post(request.path, request.token, ` ${JSON.stringify(request.body)}`, {
        [header]: key
      })
      expect(spaced.status, "the same JSON in other bytes").toBe(422)
      expect(yield* write.stored).toEqual(stored)
    })
  )

  it.effect("answers 409 while the first request runs", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      yield* send(request, key)
      yield* write.takeAnswerBack(key)
      const stored = yield* write.stored
      const refused = yield* send(request, key)
      expect(refused.status).toBe(409)
      expect(refused.headers["retry-after"]).toBe("1")
      expect(refused.json).toMatchObject({ code: "idempotency_key_in_use" })
      expect((yield* send(withQuery(request), key)).status).toBe(422)
      expect(yield* write.stored).toEqual(stored)
    })
  )

  it.effect("lets one of concurrent requests store, and gives the others its answer or 409", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      const all = yield* Effect.replicateEffect(send(request, key), 12, {
        concurrency: "unbounded"
      })
      const stored = all.filter(({ status }) => status !== 409)
      expect(stored.filter((reply) => !isReplayed(reply))).toHaveLength(1)
      expect(new Set(stored.map(({ text }) => text)).size).toBe(1)
      expect(new Set(stored.map(({ status }) => status))).toEqual(new Set([201]))
      const last = yield* send(request, key)
      expect([last.text, isReplayed(last)]).toEqual([stored[0]?.text, true])
    })
  )
}

const limits = <R>(it: Vitest.MethodsNonLive<Common | R>, write: KeyedWrite<Common | R>): void => {
  it.effect("refuses a malformed key, and stores nothing", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const stored = yield* write.stored
      for (const [what, value] of malformed) {
        const refused = yield* send(request, Buffer.from(value, "utf8").toString("latin1"))
        expect([refused.status, ...errorsOf(refused)], what).toEqual([
          400,
          write.failed,
          "Idempotency-Key: invalid"
        ])
      }
      expect(yield* write.stored).toEqual(stored)
    })
  )

  it.effect("is checked after the JSON and before the rules", () =>
    Effect.gen(function* () {
      const { path, token } = yield* write.fresh
      const bad = { [header]: "a b" }
      expect((yield* post(path, token, "{", bad)).json).toMatchObject({ code: "parse_error" })
      const refused = yield* post(path, token, { colour: "red" }, bad)
      expect(errorsOf(refused)).toEqual([write.failed, "Idempotency-Key: invalid"])
    })
  )

  it.effect("keeps no refusal, so a repeat is validated again", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      const broken = { ...request, body: { colour: "red" } }
      for (const each of [broken, broken]) {
        const refused = yield* send(each, key)
        expect([refused.status, isReplayed(refused)]).toEqual([400, false])
      }
      expect((yield* send(request, key)).status, "another request under the same key").toBe(201)
    })
  )
}

const tenancy = <R>(it: Vitest.MethodsNonLive<Common | R>, write: KeyedWrite<Common | R>): void => {
  it.effect("is separate for each organisation", () =>
    Effect.gen(function* () {
      const [own, other] = [yield* write.fresh, yield* write.fresh]
      const key = freshKey()
      for (const request of [own, other]) {
        const reply = yield* send(request, key)
        expect([reply.status, isReplayed(reply)]).toEqual([201, false])
      }
      const { name } = yield* freshOrganisation
      const { token } = yield* freshToken(name, ["import:read", "import:write"])
      const stranger = yield* send({ ...own, token }, key)
      const without = yield* post(own.path, token, own.body)
      expect(comparable(stranger)).toEqual(comparable(without))
    })
  )

  it.effect("gives a kept answer only to a valid token with the scope", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      yield* send(request, key)
      const { token: reader } = yield* freshToken(request.organisation, ["import:read"])
      expect((yield* send({ ...request, token: reader }, key)).status).toBe(403)
      expect((yield* send({ ...request, token: "none" }, key)).status).toBe(401)
      const { authorization: _, ...headers } = jsonHeaders("")
      const body = JSON.stringify(request.body)
      const anonymous = yield* ask({
        path: request.path,
        headers: { ...headers, [header]: key },
        body
      })
      expect(anonymous.status).toBe(401)
    })
  )

  it.effect("is the same for every API key of the organisation", () =>
    Effect.gen(function* () {
      const request = yield* write.fresh
      const key = freshKey()
      const first = yield* send(request, key)
      const { token } = yield* freshToken(request.organisation, ["import:write"])
      const again = yield* send({ ...request, token }, key)
      expect([again.text, isReplayed(again)]).toEqual([first.text, true])
    })
  )
}

/** Declares the suite for these endpoints. */
export const keyedWritesSuite = <R>(
  it: Vitest.MethodsNonLive<Common | R>,
  writes: ReadonlyArray<KeyedWrite<Common | R>>
): void => {
  describe.each(writes)("$name", (write) => {
    answers(it, write)
    limits(it, write)
    tenancy(it, write)
  })
}
