import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { uncoveredAnswers, coveredBy } from "../testing/ContractCoverage.ts"

const transactions = "/v1/data-import/transactions/create/"

/** The uncovered entries, given these lines in files with these names. */
const uncoveredBeside = (files: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-coverage-"))
  try {
    for (const [name, lines] of Object.entries(files)) {
      writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(""))
    }
    return uncoveredAnswers(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("coverage of the contract by a response", () => {
  const post = (path: string, status: number, body: unknown) =>
    coveredBy({ method: "POST", path }, { status, text: JSON.stringify(body) })

  it.each([
    ["a success", post(transactions, 201, { results: [] }), [`post ${transactions} 201`]],
    [
      "a refusal with fields",
      post(transactions, 400, {
        code: "request_failed_validation",
        errors: [{ attr: "a", code: "null", detail: "No." }]
      }),
      [
        `post ${transactions} 400`,
        `post ${transactions} 400 request_failed_validation`,
        "field null"
      ]
    ],
    [
      "a refusal in GraphQL",
      post("/v1/graphql/", 200, { errors: [{ extensions: { errorCode: "INVALID_API_KEY" } }] }),
      ["post /v1/graphql/ 200", "post /v1/graphql/ 200 INVALID_API_KEY"]
    ],
    [
      "one to a HEAD",
      coveredBy({ method: "HEAD", path: "/v1/data-import/limits/?a=b" }, { status: 200, text: "" }),
      ["get /v1/data-import/limits/ 200"]
    ],
    [
      "one from nowhere",
      post("/nowhere/", 404, { code: "not_found" }),
      ["undocumented 404", "undocumented 404 not_found"]
    ]
  ])("contains the documented parts of %s", (_, covered, expected) => {
    expect(covered).toEqual(expected)
  })
})

describe("the uncovered parts of the contract", () => {
  it("are all parts before any response", () => {
    const all = uncoveredBeside({})
    expect(all).toContain(`post ${transactions} 201`)
    expect(all).toContain(`post ${transactions} 400 request_failed_validation`)
    expect(all).toContain("post /v1/graphql/ 200 THROTTLED")
    expect(all).toContain("field duplicate_statement_ids")
    expect(new Set(all).size).toBe(all.length)
  })

  it("exclude what any process has covered, and nothing else", () => {
    const all = uncoveredBeside({})
    const seen = [all[3], all[10]] as ReadonlyArray<string>
    const rest = uncoveredBeside({ "1.txt": [seen[0] ?? ""], "2.txt": [seen[1] ?? ""] })
    expect(rest).toEqual(all.filter((entry) => !seen.includes(entry)))
  })

  it("do not include a defect, which no response may contain", () => {
    expect(uncoveredBeside({}).filter((entry) => entry.endsWith("500 error"))).toEqual([])
  })
})
