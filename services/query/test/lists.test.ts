import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { get, held, imported, kinds, listPath, service, skipped, staged } from "./queryService.ts"

interface Entry {
  readonly external_account_number: string
  readonly kraken_account_number: string | null
  readonly account_created_at: string | null
}

const entriesOf = ({ json }: Reply) => json as ReadonlyArray<Entry>
const numbersOf = (reply: Reply) => entriesOf(reply).map((it) => it.external_account_number)

const pending = (number: string): Entry => ({
  external_account_number: number,
  kraken_account_number: null,
  account_created_at: null
})

/** The link to the next page, if the answer has one. */
const nextOf = ({ headers }: Reply): string | undefined => {
  const { link } = headers
  if (link === undefined) return undefined
  expect(link).toMatch(/^<[\x21-\x7e]+>; rel="next"$/)
  return link.slice(1, link.indexOf(">"))
}

/** Every page from this path on, by following the links. */
const pagesFrom = Effect.fnUntraced(function* (tenant: Tenant, path: string) {
  const pages: Array<Reply> = []
  for (let next: string | undefined = path; next !== undefined;) {
    const page: Reply = yield* get(tenant, next)
    expect(page.status).toBe(200)
    pages.push(page)
    next = nextOf(page)
  }
  return pages
})

/** Twenty-five numbers that only the order of code points leaves in this order. */
const odd = [
  "!",
  "#",
  "%",
  "%2F",
  "&after=x",
  "+",
  "-1",
  "/",
  "0",
  "00",
  "1",
  "10",
  "2",
  "?limit=1",
  "A",
  "Z",
  "[",
  "a",
  "a a",
  "a\u0308",
  "z",
  "ä",
  "\u07ff",
  "\uff5e",
  "\u{1F600}"
]

layer(service, { excludeTestServices: true })("a list", (it) => {
  describe("of a supplier's imports", () => {
    it.effect("has the imports of its kind", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        yield* staged(tenant, "b staged")
        yield* held(tenant, "c held")
        yield* skipped(tenant, "d skipped")
        const { createdAt, number } = yield* imported(tenant, "a imported")
        const created: Entry = {
          external_account_number: "a imported",
          kraken_account_number: number,
          account_created_at: DateTime.formatIso(createdAt).replace(/\.\d+/, "")
        }
        const listed = {
          all: [created, pending("b staged"), pending("c held"), pending("d skipped")],
          pending: [pending("b staged"), pending("c held")],
          imported: [created]
        }
        for (const kind of kinds) {
          const path = listPath(kind, tenant.supplier.code)
          for (const query of ["", "?limit=10", "?"]) {
            const reply = yield* get(tenant, path + query)
            expect(reply.status).toBe(200)
            expect(reply.json, kind + query).toStrictEqual(listed[kind])
            expect(reply.headers["link"]).toBeUndefined()
          }
        }
      })
    )
  })

  describe("a page at a time", () => {
    it.effect("is the whole list if the links are followed", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const number of odd) yield* staged(tenant, number)
        for (const kind of ["all", "pending"] as const) {
          for (const [limit, sizes] of [
            [7, [7, 7, 7, 4]],
            [5, [5, 5, 5, 5, 5]],
            [24, [24, 1]],
            [25, [25]],
            [26, [25]],
            [10_000, [25]],
            [1, odd.map(() => 1)]
          ] as const) {
            const path = `${listPath(kind, tenant.supplier.code)}?limit=${limit}`
            const pages = yield* pagesFrom(tenant, path)
            expect(pages.map((page) => entriesOf(page).length)).toEqual(sizes)
            expect(pages.flatMap(numbersOf)).toEqual(odd)
          }
        }
      })
    )
  })

  describe("with invalid parameters", () => {
    const queries: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["limit=0", ["limit min_value"]],
      ["limit=-1", ["limit min_value"]],
      ["limit=10001", ["limit max_value"]],
      [`limit=${"9".repeat(400)}`, ["limit max_value"]],
      ["limit=", ["limit invalid"]],
      ["limit", ["limit invalid"]],
      ["limit=ten", ["limit invalid"]],
      ["limit=1.0", ["limit invalid"]],
      ["limit=1e2", ["limit invalid"]],
      ["limit=+5", ["limit invalid"]],
      ["limit=%00", ["limit invalid"]],
      ["limit=%EF%BC%91", ["limit invalid"]],
      ["limit=1&limit=1", ["limit invalid"]],
      ["after=a&after=b", ["after invalid"]],
      ["after=%00", ["after invalid"]],
      ["limit=0&after=%00", ["limit min_value", "after invalid"]],
      ["after=a%00&limit=x", ["limit invalid", "after invalid"]],
      ["after=a%00&x=1&limit=x", ["limit invalid", "after invalid", "x unknown_parameter"]],
      ["&&=&__proto__=1", ["non_field_errors unknown_parameter", "__proto__ unknown_parameter"]],
      ["verbose=1&Limit=0", ["verbose unknown_parameter", "Limit unknown_parameter"]],
      ["limit=0&".repeat(101), ["non_field_errors max_length"]]
    ]
    it.effect.each(queries)("reports each of them: %s", ([query, expected]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const kind of kinds) {
          const reply = yield* get(tenant, `${listPath(kind, tenant.supplier.code)}?${query}`)
          expect(reply.status).toBe(400)
          const { code, errors } = reply.json as {
            readonly code: string
            readonly errors: ReadonlyArray<{ readonly attr: string; readonly code: string }>
          }
          expect(code).toBe("request_failed_validation")
          expect(errors.map((error) => `${error.attr} ${error.code}`).toSorted()).toEqual(
            expected.toSorted()
          )
        }
      })
    )

    it.effect("accepts unusual but valid values", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const query of ["limit=007", "after=%ED%A0%80", "after=%", "&&", "after=%0A"]) {
          const path = `${listPath("all", tenant.supplier.code)}?${query}`
          expect((yield* get(tenant, path)).status, query).toBe(200)
        }
      })
    )
  })
})
