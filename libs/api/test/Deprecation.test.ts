import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { describe, expect, it } from "vitest"
import { Api } from "../src/Api.ts"
import { deprecated, deprecationHeaders, deprecationOf } from "../src/Deprecation.ts"
import { documentOf } from "../src/OpenApiDocument.ts"
import { SystemGroup } from "../src/SystemApi.ts"

const deprecation = {
  since: "2027-01-01",
  sunset: "2028-01-01",
  instead: "Use `GET /v1/data-import/other/`."
}

const operationOf = (group: typeof SystemGroup) => {
  const document = documentOf(HttpApi.make("api").add(group))
  const paths = document["paths"] as Record<string, Record<string, object>>
  return paths["/v1/data-import/limits/"]?.["get"]
}

const before = operationOf(SystemGroup)
const marked = SystemGroup.annotateEndpointsMerge(deprecated(deprecation))

describe("a deprecated operation", () => {
  it("is marked in the document, with its replacement, and otherwise unchanged", () => {
    const after = operationOf(marked)
    expect(before).toBeDefined()
    expect(after).toEqual({
      ...before,
      deprecated: true,
      description: expect.stringMatching(
        /^Deprecated since 2027-01-01\. It ends on 2028-01-01 at the earliest\. Use `GET .*`\.\n\n/
      )
    })
  })

  it("has the headers of RFC 9745 and RFC 8594", () => {
    expect(deprecationHeaders(deprecation)).toEqual({
      deprecation: "@1798761600",
      sunset: "Sat, 01 Jan 2028 00:00:00 GMT"
    })
  })

  it("works for at least a year", () => {
    expect(() => deprecated({ ...deprecation, sunset: "2027-12-31" })).toThrow("within a year")
    expect(() => deprecated({ ...deprecation, since: "2027-02-30" })).toThrow()
  })
})

describe("the present operations", () => {
  it("are not deprecated, as docs/guide/versions.md says", () => {
    const groups: ReadonlyArray<{ readonly endpoints: object }> = Object.values(Api.groups)
    const endpoints = groups.flatMap((group) =>
      Object.values(group.endpoints as Readonly<Record<string, HttpApiEndpoint.Top>>)
    )
    expect(endpoints.length).toBeGreaterThan(20)
    expect(endpoints.filter((endpoint) => deprecationOf(endpoint) !== null)).toEqual([])
    expect(before).not.toHaveProperty("deprecated")
  })
})
