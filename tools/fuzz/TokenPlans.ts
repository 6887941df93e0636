/**
 * Cases of the token mutation: keys that open, keys that do not, and GraphQL that asks for too
 * much, for nothing, or is none.
 */
import { get as at } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, type Plan, post, type Reply, type Step } from "./Case.ts"
import { tokenPath } from "./Document.ts"
import { answers, both, unlessTooLarge } from "./Expectation.ts"

const mutation = `mutation Obtain($input: ObtainServiceTokenInput!) {
  obtainServiceToken(input: $input) { token refreshToken refreshExpiresIn payload }
}`

/** The first error has one of these codes; no error where one of them is empty. */
const errorCode =
  (...codes: ReadonlyArray<string>): Expectation =>
  (replies) =>
    replies.flatMap(({ body, value }) => {
      const code = at(value, "errors.0.extensions.errorCode") ?? ""
      return codes.some((it) => it === code)
        ? []
        : [`the error ${codes.join(" or ")} is expected, and the answer is ${body.slice(0, 600)}`]
    })

const asked = (name: string, kind: Plan["kind"], body: unknown, expect: Expectation): Plan => {
  const request = post(tokenPath, body, "nobody")
  return {
    operation: "obtainServiceToken",
    kind,
    name,
    steps: () => [{ request, expect: unlessTooLarge(request, both(answers("200"), expect)) }]
  }
}

const invalid = errorCode("INVALID_REQUEST")

const exchanged = (reply: Reply, ...expect: ReadonlyArray<Expectation>): Step => {
  const refreshToken = at(reply.value, "data.obtainServiceToken.refreshToken")
  return {
    request: post(tokenPath, { query: mutation, variables: { input: { refreshToken } } }, "nobody"),
    expect: both(answers("200"), ...expect)
  }
}

/** Good for one use; the second one ends what came of the first as well. */
const refreshed: Step["next"] = (first) => [
  {
    ...exchanged(first, errorCode("")),
    next: (second) => [
      exchanged(first, errorCode("INVALID_REFRESH_TOKEN")),
      exchanged(second, errorCode("INVALID_REFRESH_TOKEN"))
    ]
  }
]

const opening: fc.Arbitrary<Plan> = fc
  .constantFrom(mutation, mutation.replaceAll(/\s+/g, " "), `# a comment\n${mutation}`)
  .map((query) => ({
    operation: "obtainServiceToken",
    kind: "valid",
    name: "a key that opens, and its refresh token",
    steps: (_mark, { apiKey }) => [
      {
        request: post(tokenPath, { query, variables: { input: { APIKey: apiKey } } }, "nobody"),
        expect: both(answers("200"), errorCode("")),
        next: refreshed
      }
    ]
  }))

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 60 }).map((rest) => `sk_${rest}`),
  fc.constantFrom("", " ", "\0", "\ud800", "__proto__", "sk_", "' or 1=1 --", "x".repeat(100_000))
)

const closed: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom("APIKey", "refreshToken"), text)
  .map(([name, value]) =>
    asked(
      `a wrong ${name}`,
      "state",
      { query: mutation, variables: { input: { [name]: value } } },
      errorCode(name === "APIKey" ? "INVALID_API_KEY" : "INVALID_REFRESH_TOKEN")
    )
  )

const wrongVariables: ReadonlyArray<unknown> = [
  undefined,
  null,
  {},
  { input: null },
  { input: {} },
  { input: [] },
  { input: "sk_x" },
  { input: 5 },
  { input: { APIKey: null } },
  { input: { APIKey: 5 } },
  { input: { APIKey: ["sk_x"] } },
  { input: { APIKey: "a", refreshToken: "b" } },
  { input: { APIKey: "a", refreshToken: null } },
  { input: { APIKey: "a", surprise: 1 } },
  { input: { __proto__: { APIKey: "a" }, APIKey: {} } },
  { Input: { APIKey: "a" } },
  [],
  "input",
  5
]

const misgiven: fc.Arbitrary<Plan> = fc
  .constantFrom(...wrongVariables)
  .map((variables) => asked("wrong variables", "mutant", { query: mutation, variables }, invalid))

const field = `obtainServiceToken(input: { APIKey: "sk_x" }) { token }`
const deep = (depth: number): string => `{ ${"a { ".repeat(depth)} b ${"} ".repeat(depth)} }`
const listed = (count: number, name: string, text: string): string =>
  Array.from({ length: count }, (_, index) => `${name}${index}: ${text}`).join(" ")
const aliases = (count: number): string => listed(count, "a", field)
const typeLoop = (depth: number): string =>
  `{ __schema { types { ${"fields { type { ".repeat(depth)} name ${"} } ".repeat(depth)} } } }`

const documents: Readonly<Record<string, string>> = {
  nothing: "",
  "white space": " \n\t,",
  "no GraphQL": "mutation {",
  "an unknown field": "{ users { email } }",
  "deep nesting": deep(200),
  "very deep nesting": deep(100_000),
  "unclosed braces": "{a".repeat(50_000),
  "two mutations": `mutation { a: ${field} b: ${field} }`,
  "a thousand aliases": `mutation { ${aliases(1_000)} }`,
  "a hundred thousand aliases": `{ ${"version ".repeat(100_000)} }`,
  "a loop of fragments": `{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`,
  "a fragment of itself": `{ ...A } fragment A on Query { ...A }`,
  "fragments that double": Array.from(
    { length: 60 },
    (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`
  ).join(" "),
  "the schema ten times in ten times its types": `
    { ${listed(10, "s", "__schema { types { ...A } }")} }
    fragment A on __Type { ${listed(10, "x", "fields { type { ...B } }")} }
    fragment B on __Type { ${listed(10, "y", "fields { ...C }")} }
    fragment C on __Field { ${listed(30, "z", "name")} }`,
  "a hundred deep introspection": typeLoop(100),
  subscription: "subscription { tokens }",
  "a string without end": `{ version(a: "`,
  "a block string without end": `{ version(a: """`,
  "a byte-order mark": "\ufeff{ nothing }",
  "a NUL": "{ \0 }",
  "a surrogate": "{ \ud800 }",
  "a huge number": `{ version(a: ${"9".repeat(100_000)}) }`,
  "many directives": `{ version ${"@skip(if: false) ".repeat(400)} }`,
  "an unknown directive": "{ version @explode }",
  "many variables": `query (${Array.from({ length: 300 }, (_, n) => `$v${n}: Int`).join()}) { a }`,
  "two anonymous operations": "{ version } { version }",
  "a definition of types": "type Query { a: String }"
}

const garbage: fc.Arbitrary<Plan> = fc
  .constantFrom(...Object.entries(documents))
  .map(([name, query]) => asked(name, "value", { query }, invalid))

const someGraphql: fc.Arbitrary<Plan> = fc
  .array(
    fc.constantFrom(
      "{",
      "}",
      "(",
      ")",
      "version",
      "mutation",
      "query",
      "...",
      "on",
      "Query",
      "fragment",
      "A",
      "$a",
      ":",
      "=",
      "!",
      "[",
      "]",
      "@include",
      "(if: true)",
      '"',
      '"""',
      "#",
      "\n",
      ",",
      "__typename",
      "__schema { types { name } }",
      field,
      "null",
      "true",
      "1",
      "-",
      "1e400",
      "\\u0000"
    ),
    { maxLength: 30 }
  )
  .map((words) =>
    asked(
      "words of GraphQL",
      "value",
      { query: words.join(" ") },
      errorCode("INVALID_REQUEST", "", "INVALID_API_KEY")
    )
  )

const otherBodies: ReadonlyArray<unknown> = [
  {},
  [],
  null,
  5,
  "query",
  [{ query: "{ version }" }, { query: "{ version }" }],
  { query: null },
  { query: 5 },
  { query: ["{ version }"] },
  { query: {} },
  { query: "{ version }", operationName: "Nobody" },
  { query: "{ version }", operationName: 5 },
  { query: "{ version }", extensions: 5 },
  { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } },
  { id: "1" },
  { doc_id: "1", variables: {} }
]

const misbuilt: fc.Arbitrary<Plan> = fc
  .constantFrom(...otherBodies)
  .map((body) => asked("a body of another shape", "value", JSON.stringify(body), invalid))

const sound = ["{ version }", "{ __typename }", "query A { version } query B { __typename }"]

const versions: fc.Arbitrary<Plan> = fc
  .constantFrom(...sound)
  .map((query) =>
    asked(
      "a query",
      "valid",
      { query, operationName: query.startsWith("query") ? "B" : null },
      errorCode("")
    )
  )

/** The token mutation, each kind as often as its weight says. */
export const tokenPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 2, arbitrary: opening },
  { weight: 1, arbitrary: versions },
  { weight: 4, arbitrary: closed },
  { weight: 3, arbitrary: misgiven },
  { weight: 4, arbitrary: garbage },
  { weight: 3, arbitrary: someGraphql },
  { weight: 2, arbitrary: misbuilt }
]
