/**
 * What `npm test` runs: the checks of the workspace and the tests of every project, as Nx targets,
 * three at a time: on two cores, one of three mostly waits. The fuzzer runs alone, because it
 * expects each answer within seconds. Nx takes from its cache what has not changed, so a second run
 * takes seconds. A failure stops nothing, so that one run tells everything that is wrong. At last
 * it compares the answers that the tests saw with the published document and the registry of codes,
 * and the tests that passed with the ledger of planted defects.
 * Skipped tests (for example without a browser) and failures are named before the last line, which
 * counts checks and tests together; the exit code is 1 if one of them failed.
 */
import { spawn } from "node:child_process"
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { compileCache } from "@data-import/testbed/NodeProcess"
import { missingAnswers } from "./answers.ts"
import { uncaught } from "./ledger.ts"
import { reportsFolder } from "./testReports.ts"

const root = join(import.meta.dirname, "..")
/** Of the target `check` in package.json. */
const checks = 6

const inMemory = "/dev/shm"
const bytesNeeded = 6 * 1024 ** 3

/**
 * Where the tests put their temporary files, such as several hundred databases: in memory where
 * there is enough, because PostgreSQL copies a database there in a third of the time. It may run as
 * another user, who has to reach them.
 */
const temporaryFiles = (): string => {
  const { bavail = 0, bsize = 0 } = existsSync(inMemory) ? statfsSync(inMemory) : {}
  const parent = bavail * bsize > bytesNeeded ? inMemory : tmpdir()
  const folder = mkdtempSync(join(parent, "data-import-"))
  chmodSync(folder, 0o755)
  return folder
}

/** The exit code of Nx; an interrupt reaches it through the terminal or from here. */
const runTargets = (temporary: string): Promise<number> =>
  new Promise((resolve) => {
    const args = ["run-many", "--targets=check,test", "--parallel=3", "--output-style=static"]
    const child = spawn("nx", args, {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, TMPDIR: temporary }
    })
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => child.kill(signal))
    child.once("error", (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once("close", (code) => resolve(code ?? 1))
  })

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    /** Why the file itself could not be run. */
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

/** The messages without their stacks, which were already printed. */
const whyOf = (messages: ReadonlyArray<string>): string =>
  messages.map((message) => message.split("\n    at ", 1)[0]).join("\n")

const reports = (): ReadonlyArray<Report> =>
  globSync("**/report.json", { cwd: reportsFolder }).map(
    (file) => JSON.parse(readFileSync(join(reportsFolder, file), "utf8")) as Report
  )

rmSync(reportsFolder, { recursive: true, force: true })
const temporary = temporaryFiles()
const code = await runTargets(temporary)
rmSync(temporary, { recursive: true, force: true })
const results = reports().flatMap(({ testResults }) =>
  testResults.map((file) => ({ ...file, name: relative(root, file.name) }))
)
const passedNames = results.flatMap(({ assertionResults, name }) =>
  assertionResults.flatMap(({ fullName, status }) =>
    status === "passed" ? [`${name} > ${fullName}`] : []
  )
)
const missing = [...missingAnswers(reportsFolder), ...uncaught(new Set(passedNames))]
for (const answer of missing) console.log(answer)

const sum = (count: (report: Report) => number) =>
  reports().reduce((total, report) => total + count(report), 0)
const failedTests = sum(({ numFailedTests }) => numFailedTests) + (missing.length > 0 ? 1 : 0)
const failed = code === 0 ? failedTests : Math.max(1, failedTests)
for (const { assertionResults, message, name } of results) {
  const skipped = assertionResults.filter(({ status }) => status === "skipped").length
  if (skipped > 0) console.log(`${skipped} skipped in ${name}`)
  if (message !== "") console.log(`${name} failed: ${message}`)
  for (const { failureMessages, fullName, status } of assertionResults) {
    if (status === "failed") console.log(`${name} > ${fullName} failed: ${whyOf(failureMessages)}`)
  }
}
const passedTests = sum(({ numPassedTests }) => numPassedTests) + (missing.length > 0 ? 0 : 1)
const passed = code === 0 ? passedTests + checks : passedTests
console.log(`\n${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
