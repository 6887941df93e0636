/**
 * Runs the tests of one project, as its Nx target `test` does: `node tools/runTests.ts
 * libs/domain`, or `.` for the tests of the workspace itself. It leaves in `.reports` what a cached
 * run must still report: how many tests passed, and which answers they saw (libs/api/testing).
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { testFiles } from "./lint/databaseTests.ts"
import { answersFolder, reportFile, reportFolder } from "./testReports.ts"

const root = join(import.meta.dirname, "..")
const [project = "."] = process.argv.slice(2)

const isOwn = (file: string): boolean =>
  project === "." ? /^tools\/[^/]+$/.test(file) : file.startsWith(`${project}/`)

/** They search, or take minutes, and run by `npm run test:long`. */
const isLong = (file: string): boolean => file.endsWith(".long.test.ts")

const own = testFiles(root).filter((file) => isOwn(file) && !isLong(file))
if (own.length === 0) throw new Error(`${project} has no tests`)

rmSync(reportFolder(project), { recursive: true, force: true })
mkdirSync(answersFolder(project), { recursive: true })
const report = `--outputFile.json=${reportFile(project)}`
const { status } = spawnSync(
  "vitest",
  // Nx runs several projects at once.
  ["run", "--maxWorkers=1", "--reporter=dot", "--reporter=json", report, ...own],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, CONTRACT_COVERAGE_DIR: answersFolder(project) }
  }
)
process.exitCode = status ?? 1
