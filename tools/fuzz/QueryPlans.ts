/**
 * Cases of the queries: what was staged is found again, and lists are whole, in order and in pages.
 */
import { get as at } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { accounts, numbered, stageStep, statusPath } from "./AccountPlans.ts"
import { type Expectation, get, type Plan, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { operations } from "./Document.ts"
import { answers, both, faults, has } from "./Expectation.ts"
import { checkedSupplier, fullSupplier, imported, pausedSupplier, supplier } from "./Tenant.ts"

const lists = operations.map(({ id }) => id).filter((id) => /^list(All|Pending|Imported)/.test(id))

const listPath = (id: string, of: string): string => {
  const template = operations.find((it) => it.id === id)?.template ?? ""
  return template.replace("{import_supplier}", encodeURIComponent(of))
}

const oddNumbers = fc
  .string({ unit: "binary", minLength: 1, maxLength: 40 })
  .map((text) => text.toWellFormed().replaceAll("\0", "~"))

const foundAgain = (day: Day): fc.Arbitrary<Plan> =>
  fc.tuple(accounts(day), oddNumbers).map(([payload, odd]) => ({
    operation: "getAccountImportStatus",
    kind: "valid",
    name: "a number of any characters",
    steps: (mark) => {
      const characters = odd.replace(/\p{Cc}/gu, "/").trim()
      const account = numbered({ ...payload, external_account_number: characters }, mark)
      const path = statusPath(supplier, String(account["external_account_number"]))
      return [
        { request: get(path), expect: answers("404 not_found") },
        stageStep(account),
        {
          request: get(path),
          expect: both(answers("200"), has("status", "UNKNOWN"), has("kraken_account_number", ""))
        }
      ]
    }
  }))

const known: fc.Arbitrary<Plan> = fc.constantFrom(...imported).map((number) => ({
  operation: "getAccountImportStatus",
  kind: "valid",
  name: "an imported account",
  steps: () => [
    {
      request: get(statusPath(supplier, number)),
      expect: both(answers("200"), has("status", "COMPLETED"))
    }
  ]
}))

const unknown: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(supplier, "NOBODY", "", "demo_energy"), oddNumbers)
  .map(([of, number]) => ({
    operation: "getAccountImportStatus",
    kind: "state",
    name: "a number that nobody has",
    steps: (mark) => [
      { request: get(statusPath(of, `${mark} ${number}`)), expect: answers("404 not_found") }
    ]
  }))

const byCodePoints = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

const textAt = (value: unknown, name: string): string => {
  const found = at(value, name)
  return typeof found === "string" ? found : ""
}

interface Page {
  readonly limit: number | null
  readonly after: string | null
}

/**
 * In order, after the number that was given, no longer than was asked for, and each of its kind.
 */
const isPage =
  (id: string, { after, limit }: Page): Expectation =>
  (replies) =>
    replies.flatMap(({ headers, value }) => {
      const entries: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
      const numbers = entries.map((entry) => textAt(entry, "external_account_number"))
      const found: Array<string> = []
      const isSorted = numbers.every(
        (number, index) => index === 0 || byCodePoints(numbers[index - 1] ?? "", number) < 0
      )
      if (!isSorted) found.push("the list is not in the order of code points")
      if (limit !== null && entries.length > limit) found.push("the list is too long")
      if (after !== null && numbers.some((number) => byCodePoints(number, after) <= 0)) {
        found.push("an entry does not come after the number")
      }
      const hasNext = headers["link"] !== undefined
      if (hasNext && entries.length !== limit) found.push("a page that is not full has a next one")
      const filled = entries.filter((entry) => at(entry, "kraken_account_number") !== null).length
      if (id === "listPendingAccountImports" && filled > 0) found.push("a pending one is imported")
      if (id === "listImportedAccounts" && filled < entries.length) {
        found.push("an imported one has no account")
      }
      return found
    })

/** The large supplier only in pages, the others whole as well. */
const pages = fc
  .tuple(
    fc.constantFrom(...lists),
    fc.constantFrom(supplier, checkedSupplier, pausedSupplier, fullSupplier),
    fc.option(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 10_000))),
    fc.option(fc.oneof(oddNumbers, fc.constantFrom("", ...imported)))
  )
  .map(([id, of, limit, after]) => ({
    id,
    of,
    after,
    limit: of === supplier ? Math.min(limit ?? 25, 40) : limit
  }))

const searchOf = ({ after, limit }: Page): string => {
  const query = new URLSearchParams({
    ...(limit === null ? {} : { limit: String(limit) }),
    ...(after === null ? {} : { after })
  })
  return query.size === 0 ? "" : `?${query.toString()}`
}

/** So many pages at most are read on. */
const pagesInARow = 3

const pageStep = (id: string, path: string, page: Page, pagesLeft: number): Step => ({
  request: get(path),
  expect: both(answers("200"), isPage(id, page)),
  next: ({ headers, value }) => {
    const next = /^<(.+)>; rel="next"$/.exec(headers["link"] ?? "")?.[1]
    if (next === undefined || pagesLeft === 0 || !Array.isArray(value)) return []
    const after = textAt(value.at(-1), "external_account_number")
    return [pageStep(id, next, { ...page, after }, pagesLeft - 1)]
  }
})

const paged: fc.Arbitrary<Plan> = pages.map(({ after, id, limit, of }) => ({
  operation: id,
  kind: "valid",
  name: "a list, or its pages",
  steps: () => {
    const page = { limit, after }
    return [pageStep(id, `${listPath(id, of)}${searchOf(page)}`, page, pagesInARow)]
  }
}))

const wrong: ReadonlyArray<readonly [query: string, ...faults: ReadonlyArray<string>]> = [
  ["limit=0", "limit min_value"],
  ["limit=-1", "limit min_value"],
  ["limit=10001", "limit max_value"],
  [`limit=${"9".repeat(4_000)}`, "limit max_value"],
  ["limit=", "limit invalid"],
  ["limit", "limit invalid"],
  ["limit=1.5", "limit invalid"],
  ["limit=1e3", "limit invalid"],
  ["limit=%201", "limit invalid"],
  ["limit=+1", "limit invalid"],
  ["limit=0x10", "limit invalid"],
  ["limit=NaN", "limit invalid"],
  ["limit=1&limit=1", "limit invalid"],
  ["limit=%D9%A1", "limit invalid"],
  ["after=a&after=b", "after invalid"],
  ["after=a%00", "after invalid"],
  ["limit=x&after=a&after=b", "limit invalid", "after invalid"],
  ["limt=1", "limt unknown_parameter"],
  ["Limit=1&limit=x", "limit invalid", "Limit unknown_parameter"],
  ["limit=1&__proto__=1&toString", "__proto__ unknown_parameter", "toString unknown_parameter"],
  ["limit=0&".repeat(101), "non_field_errors max_length"]
]

const wrongParameters: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...lists), fc.constantFrom(...wrong))
  .map(([id, [query, ...places]]) => ({
    operation: id,
    kind: "mutant",
    name: query.slice(0, 40),
    steps: () => [
      {
        request: get(`${listPath(id, checkedSupplier)}?${query}`),
        expect: faults("400 request_failed_validation", ...places)
      }
    ]
  }))

const fixed: fc.Arbitrary<Plan> = fc
  .constantFrom(
    ["getLimits", "/v1/data-import/limits/"],
    ["getSigningKeys", "/.well-known/jwks.json"]
  )
  .map(([id = "", path = ""]) => ({
    operation: id,
    kind: "valid",
    name: "as it is",
    steps: () => [{ request: get(path), expect: answers("200") }]
  }))

/** The queries, each kind as often as its weight says. */
export const queryPlans = (day: Day): ReadonlyArray<fc.WeightedArbitrary<Plan>> => [
  { weight: 4, arbitrary: foundAgain(day) },
  { weight: 2, arbitrary: known },
  { weight: 3, arbitrary: unknown },
  { weight: 8, arbitrary: paged },
  { weight: 3, arbitrary: wrongParameters },
  { weight: 1, arbitrary: fixed }
]
