import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { getIntrospectionQuery } from "graphql"
import { issueKey, ServiceToken } from "@data-import/domain/access/ServiceToken"
import {
  acme,
  ask,
  errorCode,
  obtain,
  post,
  Premises,
  refusal,
  send,
  serviceWith,
  withService
} from "./authService.ts"

const issue = issueKey({ organisation: acme, label: "ci", scopes: [], expiresAt: null })

/** A program that counts its calls, and issues no tokens. */
const counting = (answer: ServiceToken["Service"]["obtain"]) => {
  const asked: Array<unknown> = []
  const program = Layer.succeed(ServiceToken, {
    obtain: (credential, address) =>
      Effect.suspend(() => {
        asked.push(credential)
        return answer(credential, address)
      })
  })
  return { asked, program }
}
const field = `obtainServiceToken(input: { APIKey: "sk_x" }) { token }`

describe("an input", () => {
  const inputs: Record<string, unknown> = {
    "with both": { APIKey: "sk_canary", refreshToken: "rt_canary" },
    "with both, one of them null": { APIKey: "sk_canary", refreshToken: null },
    "with none": {},
    "with a null": { APIKey: null },
    "with another field": { APIKey: "sk_canary", secret: "sk_canary" },
    "with a number": { APIKey: 5 },
    "with a list": { APIKey: ["sk_canary"] },
    "that is null": null,
    "that is a key": "sk_canary",
    "that is a list": [{ APIKey: "sk_canary" }],
    "that is not there": undefined
  }

  it.effect.each(Object.keys(inputs))(
    "%s is refused before it is tried, and not repeated",
    (name) => {
      const { asked, program } = counting(() => Effect.die("asked"))
      return Effect.gen(function* () {
        const reply = yield* ask(inputs[name])
        expect(errorCode(reply)).toBe("INVALID_REQUEST")
        expect(reply.text).not.toContain("canary")
        expect(asked).toEqual([])
      }).pipe(withService(serviceWith({}, program)))
    }
  )

  it.effect("that has thousands of errors is answered briefly", () =>
    Effect.gen(function* () {
      const fields = Array.from({ length: 4000 }, (_, index) => [`f${index}`, 1] as const)
      const reply = yield* ask(Object.fromEntries(fields))
      expect(errorCode(reply)).toBe("INVALID_REQUEST")
      expect(reply.text.length).toBeLessThan(1_000)
    }).pipe(withService())
  )

  it.effect("that has ninety errors is answered with ten of them", () =>
    Effect.gen(function* () {
      const fields = Array.from({ length: 90 }, (_, index) => [`f${index}`, "x".repeat(500)])
      const reply = yield* ask(Object.fromEntries(fields))
      expect(errorCode(reply)).toBe("INVALID_REQUEST")
      expect(reply.text.length).toBeLessThan(20_000)
    }).pipe(withService())
  )

  it.effect("may be any text", () =>
    Effect.gen(function* () {
      const texts = ["", " ", "\0", "ü", "\ud800", "__proto__", "x".repeat(60_000)]
      for (const text of texts) {
        expect(yield* refusal({ APIKey: text })).toBe("INVALID_API_KEY")
        expect(yield* refusal({ refreshToken: text })).toBe("INVALID_REFRESH_TOKEN")
      }
    }).pipe(withService())
  )
})

describe("a document", () => {
  const listed = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(" ")
  const aliases = (count: number) => listed(count, (index) => `a${index}: ${field}`)
  const twice = (index: number) =>
    `fragment A${index} on Query { ...A${index + 1} ...A${index + 1} }`
  const doubling = (count: number) =>
    `${listed(count, twice)} fragment A${count} on Query { version }`
  /**
   * An introspection query that repeats the schema this often, and again within every type, and so
   * on.
   */
  const multiplied = (schemas: number, lists: number, types: number, names: number) =>
    `{ ${listed(schemas, (index) => `s${index}: __schema { types { ...A } }`)} }
    fragment A on __Type { ${listed(lists, (index) => `x${index}: fields { type { ...B } }`)} }
    fragment B on __Type { ${listed(types, (index) => `y${index}: fields { ...C }`)} }
    fragment C on __Field { ${listed(names, (index) => `z${index}: name`)} }`
  const documents: Record<string, string> = {
    "that asks twice": `mutation { a: ${field} b: ${field} }`,
    "that asks a thousand times": `mutation { ${aliases(1000)} }`,
    "that asks by fragments": `mutation { ...A ...B }
      fragment A on Mutation { a: ${field} }
      fragment B on Mutation { b: ${field} }`,
    "that asks by nested inline fragments": `mutation { ... { ${field} ... on Mutation { b: ${field} } } }`,
    "that asks in two operations": `mutation A { ${field} } mutation B { ${field} }`,
    "of too many tokens": `{ ${"version ".repeat(1000)} }`,
    "that is too deep": `{ ${"a { ".repeat(400)} b ${"} ".repeat(400)} }`,
    "of too many lines": `${"#\n".repeat(1000)}{ version }`,
    "of too many fields": `{ ${"version ".repeat(400)} }`,
    "of too many fields in fragments": `{ ...A0 } ${doubling(60)}`,
    "of too many fields in fragments that nobody spreads": `{ version } ${doubling(60)}`,
    "that multiplies the schema": multiplied(2, 2, 3, 5),
    "that multiplies the schema a hundredfold": multiplied(10, 10, 10, 30),
    "that asks for the schema under another name": `{ a: __schema { types { name } } }`,
    "that asks for two types": `{ a: __type(name: "A") { name } b: __type(name: "B") { name } }`,
    "that asks for many payloads": `mutation { obtainServiceToken(input: { APIKey: "sk_x" }) {
      ${listed(310, (index) => `p${index}: payload`)} } }`,
    "of many directives": `{ version ${"@include(if: true) ".repeat(1000)} }`,
    "of a few directives on one field": `{ version ${"@include(if: true) ".repeat(5)} }`,
    "of many variables": `query (${listed(400, (index) => `$v${index}: String`)}) { version }`,
    "that recurs": `query { ...A } fragment A on Query { ...B } fragment B on Query { ...A }`,
    "that is no GraphQL": `mutation {`,
    "that is empty": ``,
    "that asks for what is not there": `{ users { email } }`,
    "that subscribes": `subscription { tokens }`
  }

  it.effect.each(Object.keys(documents))("%s is refused before a key is tried", (name) => {
    const { asked, program } = counting(() => Effect.die("asked"))
    return Effect.gen(function* () {
      expect(errorCode(yield* post({ query: documents[name] }))).toBe("INVALID_REQUEST")
      expect(asked).toEqual([])
    }).pipe(withService(serviceWith({}, program)))
  })

  it.effect("may ask for the schema", () =>
    Effect.gen(function* () {
      const { text } = yield* post({ query: getIntrospectionQuery({ oneOf: true }) })
      expect(text).toContain("ObtainServiceTokenInput")
      expect(text).not.toContain("errors")
    }).pipe(withService())
  )

  it.effect("may repeat a selection of the schema, which is answered once", () =>
    Effect.gen(function* () {
      const types = "types { name ...A } ".repeat(20)
      const query = `{ __schema { ${types} } } fragment A on __Type { name }`
      const { text } = yield* post({ query })
      expect(text).not.toContain("errors")
      expect(text.split("ObtainServiceTokenInput")).toHaveLength(2)
    }).pipe(withService())
  )

  it.effect("may name one of several operations", () =>
    Effect.gen(function* () {
      const query = `query A { a: version } query B { b: version }`
      const { text } = yield* post({ query, operationName: "B", variables: null, extensions: {} })
      expect(JSON.parse(text)).toEqual({ data: { b: "v1" } })
    }).pipe(withService())
  )
})

describe("a body", () => {
  const bodies: ReadonlyArray<unknown> = [
    null,
    5,
    "query",
    {},
    { query: 5 },
    { query: "{ version }", variables: 5 },
    { query: "{ version }", operationName: {} },
    { query: "{ version }", operationName: 5 },
    { query: "{ version }", other: 1 },
    [{ query: "{ version }" }, { query: "{ version }" }]
  ]
  it.effect.each(bodies)("that is not a GraphQL request gets a GraphQL error: %j", (body) =>
    Effect.gen(function* () {
      expect(errorCode(yield* post(body))).toBe("INVALID_REQUEST")
    }).pipe(withService())
  )

  const raw = (body: string, headers: Record<string, string> = {}) =>
    send("/v1/graphql/", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body
    })
  const good = JSON.stringify({ query: "{ version }" })

  it.effect.each([
    ["malformed", raw("{"), 400, "parse_error"],
    ["with a repeated key", raw(`{"query":"{ version }","query":""}`), 400, "parse_error"],
    ["nested too deep", raw(`{"query":${"[".repeat(40)}${"]".repeat(40)}}`), 400, "parse_error"],
    [
      "of another type",
      raw(good, { "content-type": "application/graphql" }),
      415,
      "unsupported_media_type"
    ],
    ["encoded", raw(good, { "content-encoding": "gzip" }), 415, "unsupported_media_type"],
    ["too large", raw(" ".repeat(10 * 1024 * 1024 + 1)), 413, "payload_too_large"]
  ] as const)("%s has the envelope of all endpoints", ([, sending, status, code]) =>
    Effect.gen(function* () {
      const reply = yield* sending
      expect(reply.status).toBe(status)
      expect(JSON.parse(reply.text)).toMatchObject({ code })
    }).pipe(withService())
  )
})

describe("a failure of the service", () => {
  it.effect("is a 500 with the request id only", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* ask({ APIKey: "sk_x" })
      expect(status).toBe(500)
      expect(JSON.parse(text)).toMatchObject({
        code: "error",
        request_id: headers.get("x-request-id")
      })
      expect(text).not.toContain("canary")
    }).pipe(withService(serviceWith({}, counting(() => Effect.die(new Error("canary"))).program)))
  )
})

describe("the log", () => {
  it.effect("contains no key and no token", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue
      const { refreshToken, token } = yield* obtain({ APIKey: secret })
      yield* obtain({ refreshToken })
      yield* refusal({ refreshToken })
      yield* refusal({ APIKey: "sk_canary" })
      yield* refusal({ APIKey: ["sk_canary"] })
      yield* post({
        query: `mutation { obtainServiceToken(input: {APIKey: sk_canary}) { token } }`
      })
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      const log = (yield* Premises).log.join("")
      expect(log).toContain("A refresh token was used twice")
      for (const shown of [secret, refreshToken, token, "canary", "192.0.2.1"]) {
        expect(log.includes(shown), shown).toBe(false)
      }
    }).pipe(withService())
  )
})
