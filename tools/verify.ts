/**
 * What `npm test` runs: the checks of the workspace, which Nx takes from its cache if nothing
 * changed, beside one run of Vitest over the tests of all projects, with one PostgreSQL. A failure
 * stops nothing, so that one run tells everything that is wrong. At last it compares the answers
 * that the tests saw with the published document and the registry of codes, and the tests that
 * passed with the ledger of planted defects.
 * Skipped tests (for example without a browser) and failures are named before the last line, which
 * counts checks and tests together; the exit code is 1 if one of them failed.
 */
import { spawn } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync
} from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join, relative } from "node:path"
import { compileCache } from "@data-import/testbed/NodeProcess"
import { missingAnswers } from "./answers.ts"
import { uncaught } from "./ledger.ts"

const root = join(import.meta.dirname, "..")
const reports = join(root, ".reports")
const answers = join(reports, "answers")
const reportFile = join(reports, "report.json")
/** Of the target `check` in package.json. */
const checks = 6

/** A worker more than two cores have: one of three mostly waits. */
const workers = Math.ceil(1.5 * availableParallelism())

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

/** The exit code; an interrupt reaches the command through the terminal or from here. */
const run = (
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env }
    })
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => child.kill(signal))
    child.once("error", (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once("close", (code) => resolve(code ?? 1))
  })

const runChecks = () =>
  run("nx", ["run", "workspace:check", "--parallel=1", "--output-style=static"], {})

const runTests = async (): Promise<number> => {
  const built = await run("nx", ["run", "board:build-web", "--output-style=static"], {})
  if (built !== 0) return built
  const temporary = temporaryFiles()
  try {
    return await run(
      "vitest",
      [
        "run",
        "--project=!long",
        `--maxWorkers=${workers}`,
        "--reporter=dot",
        "--reporter=json",
        `--outputFile.json=${reportFile}`
      ],
      { TMPDIR: temporary, CONTRACT_COVERAGE_DIR: answers }
    )
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

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

const nothing: Report = { numPassedTests: 0, numFailedTests: 0, testResults: [] }

const reported = (): Report =>
  existsSync(reportFile) ? (JSON.parse(readFileSync(reportFile, "utf8")) as Report) : nothing

/** The messages without their stacks, which were already printed. */
const whyOf = (messages: ReadonlyArray<string>): string =>
  messages.map((message) => message.split("\n    at ", 1)[0]).join("\n")

rmSync(reports, { recursive: true, force: true })
mkdirSync(answers, { recursive: true })
const [checked, tested] = await Promise.all([runChecks(), runTests()])

const { numFailedTests, numPassedTests, testResults } = reported()
const results = testResults.map((file) => ({ ...file, name: relative(root, file.name) }))
const passedNames = results.flatMap(({ assertionResults, name }) =>
  assertionResults.flatMap(({ fullName, status }) =>
    status === "passed" ? [`${name} > ${fullName}`] : []
  )
)
const missing = [...missingAnswers(answers), ...uncaught(new Set(passedNames))]
for (const answer of missing) console.log(answer)
for (const { assertionResults, message, name } of results) {
  const skipped = assertionResults.filter(({ status }) => status === "skipped").length
  if (skipped > 0) console.log(`${skipped} skipped in ${name}`)
  if (message !== "") console.log(`${name} failed: ${message}`)
  for (const { failureMessages, fullName, status } of assertionResults) {
    if (status === "failed") console.log(`${name} > ${fullName} failed: ${whyOf(failureMessages)}`)
  }
}

/** A run may fail without a failed test, for example if a file cannot be loaded. */
const failedTests = tested === 0 ? numFailedTests : Math.max(1, numFailedTests)
const failed = failedTests + (checked === 0 ? 0 : 1) + (missing.length > 0 ? 1 : 0)
const passed = numPassedTests + (checked === 0 ? checks : 0) + (missing.length > 0 ? 0 : 1)
console.log(`\n${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
