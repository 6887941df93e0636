/**
 * `npm run test:containers`: the tests that need a container engine. Without an engine it prints
 * why the tests are skipped, and succeeds. The last line counts passed and failed tests.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getContainerRuntimeClient } from "testcontainers"

/** Why there is no usable engine; undefined if one answers and Docker's client has Compose. */
const whyNot = async (): Promise<string | undefined> => {
  try {
    await getContainerRuntimeClient()
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
  const { status } = spawnSync("docker", ["compose", "version"], { stdio: "ignore" })
  return status === 0 ? undefined : "Docker's client has no Compose"
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

const test = (report: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const config = join(import.meta.dirname, "vitest.config.ts")
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
    const child = spawn("vitest", ["run", "--config", config, ...reporters], {
      stdio: ["ignore", "inherit", "inherit"]
    })
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => child.kill(signal))
    child.once("error", reject)
    child.once("close", (code) => resolve(code ?? 1))
  })

const folder = mkdtempSync(join(tmpdir(), "data-import-report-"))
try {
  const why = await whyNot()
  if (why === undefined) {
    const file = join(folder, "report.json")
    process.exitCode = await test(file)
    const report = JSON.parse(readFileSync(file, "utf8")) as Report
    const failed = Math.max(report.numFailedTests, process.exitCode === 0 ? 0 : 1)
    console.log(`\n${report.numPassedTests} passed, ${failed} failed`)
  } else {
    console.log(`The container tests are skipped: ${why}.`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
