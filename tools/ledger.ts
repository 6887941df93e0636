/**
 * The ledger of planted defects, `tools/ledger.txt`: on each line the test that reveals one, as
 * `FILE > NAME`. A whole run must have passed all of them, so that a test that goes cannot take a
 * defect with it that nothing else finds.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const file = join(import.meta.dirname, "ledger.txt")

/** The planted defects that none of the passed tests reveals. */
export const uncaught = (
  passed: ReadonlySet<string>,
  ledger: string = readFileSync(file, "utf8")
): ReadonlyArray<string> =>
  ledger
    .split("\n")
    .filter((line) => line !== "" && !passed.has(line))
    .map((line) => `not caught: ${line}`)
