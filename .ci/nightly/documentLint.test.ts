/**
 * Common linters find no error in the document except the trailing slash of its paths, which the
 * contract requires. Source: docs/contract/http.md#paths.
 */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "node:test"
import { createConfig, lint } from "@redocly/openapi-core"
import spectral from "@stoplight/spectral-core"
import rulesets from "@stoplight/spectral-rulesets"

const file = join(import.meta.dirname, "../../libs/api/openapi.json")

/** The severity of an error in Spectral. */
const error = 0

void describe("the document", () => {
  void it("has no error for Redocly except the trailing slash", async () => {
    const problems = await lint({
      ref: file,
      config: await createConfig({ extends: ["recommended"] })
    })
    const errors = problems.filter(({ severity }) => severity === "error")
    assert.ok(errors.length > 20)
    assert.deepEqual([...new Set(errors.map(({ ruleId }) => ruleId))], ["no-path-trailing-slash"])
  })

  void it("has no error for Spectral", async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas] })
    const problems = await linter.run(readFileSync(file, "utf8"))
    assert.ok(problems.length > 20)
    assert.deepEqual(
      problems.filter(({ severity }) => severity === error),
      []
    )
  })
})
