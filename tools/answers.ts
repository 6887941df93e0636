/**
 * Finds answers of the published document, and codes of the registry, that no test of a whole run
 * has seen on the wire. A code that is registered but never emitted is a forgotten rule or a dead
 * entry.
 */
import { mkdtempSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { uncoveredAnswers } from "@data-import/api/testing/ContractCoverage"
import { registry } from "@data-import/domain/codes/Code"

/** Codes that no test may cause, with the reason. */
const notEmitted: Readonly<Record<string, string>> = {
  error: "It answers a defect, and every test fails that sees one."
}

/** An answer ends with its code: `post /v1/graphql/ 200 THROTTLED`, `field required`. */
const codeOf = (answer: string): string => answer.slice(answer.lastIndexOf(" ") + 1)

/** Compares codes with answers both ways: a code is emitted or excused, and never both. */
export const codeComplaints = (
  codes: ReadonlyArray<string>,
  answers: ReadonlyArray<string>,
  excused: Readonly<Record<string, string>> = notEmitted
): ReadonlyArray<string> => {
  const emitted = new Set(answers.map(codeOf))
  return codes.flatMap((code) => {
    const isExcused = Object.hasOwn(excused, code)
    if (emitted.has(code)) return isExcused ? [`emitted against the exception: ${code}`] : []
    return isExcused ? [] : [`never emitted: ${code}`]
  })
}

const undescribed = (answers: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-answers-"))
  try {
    writeFileSync(join(folder, "all.txt"), answers.join("\n"))
    return uncoveredAnswers(folder).map((answer) => `never answered: ${answer}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** `folder` has the answers that the tests saw, a file for each process. */
export const missingAnswers = (folder: string): ReadonlyArray<string> => {
  const answers = globSync("*.txt", { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), "utf8").split("\n")
  )
  return [...undescribed(answers), ...codeComplaints(Object.keys(registry), answers)]
}
