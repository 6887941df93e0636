/**
 * Cases of the path and the query: odd percent-encodings, attempts to leave the path, paths that do
 * not exist, and queries that are long or repeat themselves.
 */
import fc from "fast-check"
import { type Expectation, get, type Plan, type Request } from "./Case.ts"
import { operations, type Operation } from "./Document.ts"
import { answers } from "./Expectation.ts"
import { gets, pathOf, shortened, validAnswers, validRequest } from "./ValidRequests.ts"
import { oddSegments } from "./HostileTexts.ts"
import { supplier } from "./TenantNames.ts"

const plan = (asked: Operation, name: string, request: Request, expect: Expectation): Plan => ({
  operation: asked.id,
  kind: "path",
  name: name.slice(0, 60),
  steps: () => [{ request, expect }]
})

const any = fc.constantFrom(...operations)
const withParameter = gets.filter(({ template }) => template.includes("{"))

const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddSegments) },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: "binary", maxLength: 20 })
      .map((text) => encodeURIComponent(text.toWellFormed()))
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.nat(255), { maxLength: 12 })
      .map((bytes) => bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""))
  }
)

/** A supplier or an account that does not exist, or no path at all. */
const parameters: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...withParameter), segment, segment)
  .map(([asked, first, second]) => {
    const path = asked.template
      .replace("{import_supplier}", () => first)
      .replace("{external_account_number}", () => second)
      .replace("{batch_id}", () => first)
    return plan(asked, path, get(path), answers("404 not_found"))
  })

const numbers: fc.Arbitrary<Plan> = segment.map((number) => {
  const asked = withParameter.find(({ id }) => id === "getAccountImportStatus") ?? operations[0]
  const path = `/v1/data-import/account-transfer-status/${supplier}/${number}/`
  return plan(asked as Operation, path, get(path), answers("404 not_found"))
})

/** Changes to an existing path after which it does not exist. */
const bendings: ReadonlyArray<(path: string) => string> = [
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => `${path}.`,
  (path) => `${path}..`,
  (path) => `${path}%20`,
  (path) => `${path}%00`,
  (path) => `${path};a=b`,
  (path) => `${path}#a`,
  (path) => path.toUpperCase(),
  (path) => path.replace("/v1/", "/v2/"),
  (path) => path.replace("/v1/", "/v1/../v1/"),
  (path) => path.replace("/v1/", "/v1/./"),
  (path) => path.replace("/v1/", "/%76%31/"),
  (path) => path.replace("/v1/", "//v1/"),
  (path) => path.replace("/v1/", "\\v1\\"),
  (path) => path.replace("data-import", "data%2dimport"),
  (path) => `http://127.0.0.1${path.replace("/v1/", "/v3/")}`,
  (path) => path.slice(1),
  (path) => `${path}\x80`,
  (path) => `${path}?a=\xe2\x9c\x93`,
  () => "*",
  () => "/",
  () => "/..",
  () => "//",
  () => "/%2e%2e/%2e%2e/etc/passwd",
  () => "/v1/data-import/",
  () => "/v1/",
  () => "/favicon.ico",
  () => "/.git/config",
  () => `/${"a/".repeat(3_000)}`,
  () => `/${"%2f".repeat(2_000)}`
]

const bent: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(...bendings))
  .map(([asked, bend]) => ({ asked, path: bend(pathOf(asked)) }))
  .filter(({ asked, path }) => path !== pathOf(asked))
  .map(({ asked, path }) => {
    const request = { ...validRequest(asked), path, malformed: true as const }
    // A segment after the path of all batches is the id of one, whose slash is missing.
    return plan(asked, path, request, answers("404 not_found", "400 parse_error", "308"))
  })

/** Undocumented and documented parameters, as well-formed text. */
const query = fc.oneof(
  fc.constantFrom(
    "",
    "&",
    "=",
    "&&&",
    "%",
    "%zz=%",
    "a",
    "a=b=c",
    "a[]=1&a[b]=2",
    "__proto__=1",
    "a=%00",
    "a=%ff",
    "limit",
    "constructor[prototype]=1",
    "toString=1&hasOwnProperty=2",
    ";",
    "a;b",
    "+",
    "%26",
    "?",
    "a=1".repeat(1_000),
    "a=1&".repeat(2_000),
    `a=${"x".repeat(8_000)}`,
    `${"%41".repeat(2_000)}`,
    "callback=alert",
    "format=xml",
    "access_token=x",
    "check_previously_added=maybe",
    "create_only=true",
    "fields=state,staged_at,times_staged,payload_hash,attempts",
    "fields=state&state=FAILED&failed=true",
    "code=required&staged_after=2020-01-01T00:00:00Z",
    "state=IN_PROGRESS&failed=false&fields=attempts",
    "a=''"
  ),
  fc.webQueryParameters()
)

/** Only the parameters may be refused, and in the envelope. */
const queries: fc.Arbitrary<Plan> = fc.tuple(any, query).map(([asked, search]) => {
  const valid = validRequest(asked)
  const path = `${pathOf(asked)}?${shortened(asked)}&${search}`
  return plan(
    asked,
    path,
    { ...valid, path },
    answers(
      ...validAnswers,
      "400 request_failed_validation",
      "400 account_failed_validation",
      "409 import_process_differs"
    )
  )
})

/** Paths and queries, each kind as often as its weight says. */
export const pathPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 6, arbitrary: parameters },
  { weight: 4, arbitrary: numbers },
  { weight: 4, arbitrary: bent },
  { weight: 4, arbitrary: queries }
]
