/** The codes that a whole run must have seen. The run itself calls `missingAnswers` (verify.ts). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { registry } from "@data-import/domain/codes/Code"
import { expect, it } from "vitest"
import { codeComplaints, missingAnswers } from "./answers.ts"

const emitted = (code: string) => `post /v1/somewhere/ 400 ${code}`

/** What is missing if the processes of the tests saw these answers. */
const missingAfter = (answers: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-reports-"))
  try {
    for (const [process, lines] of Object.entries(answers)) {
      writeFileSync(join(folder, `${process}.txt`), lines.join("\n"))
    }
    return missingAnswers(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it("reports a code that no answer holds", () => {
  expect(codeComplaints(["seen", "unseen"], [emitted("seen")], {})).toEqual([
    "never emitted: unseen"
  ])
})

it("counts the code of a field", () => {
  expect(codeComplaints(["blank"], ["field blank"], {})).toEqual([])
})

it("does not report an excused code", () => {
  expect(codeComplaints(["error"], [], { error: "a defect" })).toEqual([])
})

it("reports an excused code that an answer holds", () => {
  expect(codeComplaints(["error"], [emitted("error")], { error: "a defect" })).toEqual([
    "emitted against the exception: error"
  ])
})

it("excuses only registered codes", () => {
  const reported = codeComplaints(Object.keys(registry), [])
  expect(reported).toHaveLength(Object.keys(registry).length - 1)
  expect(reported).not.toContain("never emitted: error")
})

it("collects the answers of all processes", () => {
  const missing = missingAfter({ "1": [emitted("not_found")], "2": ["field null"] })
  expect(missing).not.toContain("never emitted: not_found")
  expect(missing).not.toContain("never emitted: null")
  expect(missing).toContain("never emitted: parse_error")
})

it("reports every answer of the document that was not seen", () => {
  expect(missingAfter({})).toContain("never answered: get /v1/data-import/limits/ 200")
})
