/**
 * What `npm test` runs: the static checks two at a time, then the tests, whatever the checks said,
 * so that one run tells everything that is wrong; at last, whether the tests have seen every answer
 * that the published document describes. A check is silent unless it fails. The last line counts
 * checks and tests together; the exit code is 1 as soon as one of them failed.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { neverAnswered } from "@data-import/api/testing/ContractCoverage"

const root = join(import.meta.dirname, "..")

interface Check {
  readonly name: string
  readonly command: ReadonlyArray<string>
}

const checks: ReadonlyArray<Check> = [
  { name: "types", command: ["tsc", "--noEmit", "-p", "tsconfig.json"] },
  { name: "lint", command: ["eslint", "."] },
  { name: "format", command: ["prettier", "--check", "."] },
  { name: "dead code", command: ["knip", "--no-config-hints"] },
  { name: "openapi", command: ["node", "tools/openapi.ts", "--check"] },
  { name: "documents", command: ["node", "tools/documents.ts", "--check"] }
]

interface Count {
  readonly passed: number
  readonly failed: number
}

const running = new Set<ChildProcess>()

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    running.add(child)
    child.once("error", (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once("close", (code) => {
      running.delete(child)
      resolve(code ?? 1)
    })
  })

const start = (
  [program = "", ...args]: ReadonlyArray<string>,
  output: "pipe" | "inherit",
  variables: Readonly<Record<string, string>> = {}
) => {
  const env = { ...process.env, ...variables }
  return spawn(program, args, { cwd: root, env, stdio: ["ignore", output, output] })
}

const runCheck = async ({ name, command }: Check): Promise<boolean> => {
  const begun = performance.now()
  const child = start(command, "pipe")
  const said: Array<Buffer> = []
  child.stdout?.on("data", (part: Buffer) => said.push(part))
  child.stderr?.on("data", (part: Buffer) => said.push(part))
  const passed = (await exitOf(child)) === 0
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`${passed ? "passed" : "FAILED"}  ${name}  ${seconds} s`)
  if (!passed) console.log(`\n$ ${command.join(" ")}\n${Buffer.concat(said).toString()}`)
  return passed
}

const runChecks = async (): Promise<Count> => {
  const waiting = [...checks]
  const results: Array<boolean> = []
  const worker = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      results.push(await runCheck(check))
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))
  const passed = results.filter((result) => result).length
  return { passed, failed: results.length - passed }
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

const counted = (file: string): Report | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Report
  } catch {
    console.error("vitest ended without a report")
    return undefined
  }
}

const allSeen = (sightings: string): boolean => {
  const missing = neverAnswered(sightings)
  console.log(`${missing.length === 0 ? "passed" : "FAILED"}  every described answer was seen`)
  for (const answer of missing) console.log(`  never seen: ${answer}`)
  return missing.length === 0
}

const runTests = async (): Promise<Count> => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-report-"))
  const file = join(folder, "report.json")
  const sightings = join(folder, "sightings")
  mkdirSync(sightings)
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
    const variables = { SIGHTINGS_DIR: sightings }
    const code = await exitOf(start(["vitest", "run", ...reporters], "inherit", variables))
    const report = counted(file)
    const seen = allSeen(sightings)
    const passed = (report?.numPassedTests ?? 0) + (seen ? 1 : 0)
    const failed = (report?.numFailedTests ?? 0) + (seen ? 0 : 1)
    return { passed, failed: code === 0 ? failed : Math.max(failed, 1) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal)
    process.exitCode = 1
  })
}

const ofChecks = await runChecks()
const ofTests = await runTests()
const failed = ofChecks.failed + ofTests.failed
console.log(`\n${ofChecks.passed + ofTests.passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
