/**
 * Common linters find no error in the document except the trailing slash of its paths, which the
 * contract requires. Source: docs/contract/http.md#paths.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createConfig, lint } from "@redocly/openapi-core"
import spectral from "@stoplight/spectral-core"
import rulesets from "@stoplight/spectral-rulesets"
import { describe, expect, it } from "vitest"

const file = join(import.meta.dirname, "../openapi.json")

/** The severity of an error in Spectral. */
const error = 0

describe("the document", () => {
  it("has no error for Redocly except the trailing slash", async () => {
    const problems = await lint({
      ref: file,
      config: await createConfig({ extends: ["recommended"] })
    })
    const errors = problems.filter(({ severity }) => severity === "error")
    expect(errors.length).toBeGreaterThan(20)
    expect([...new Set(errors.map(({ ruleId }) => ruleId))]).toEqual(["no-path-trailing-slash"])
  }, 60_000)

  it("has no error for Spectral", async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas as never] })
    const problems = await linter.run(readFileSync(file, "utf8"))
    expect(problems.length).toBeGreaterThan(20)
    expect(problems.filter(({ severity }) => severity === error)).toEqual([])
  }, 60_000)
})
