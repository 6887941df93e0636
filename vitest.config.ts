/**
 * How the tests run: files side by side in as many processes as there are cores. The projects
 * `database` and `alone` also start PostgreSQL, one for both. A file belongs to `database` if it
 * imports something that injects `databaseUrl` (tools/lint/databaseTests.ts). The fuzzer runs
 * alone, because it expects each answer within seconds. `npm run test:long` runs `long`.
 */
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { databaseTests, testFiles } from "./tools/lint/databaseTests.ts"

const alone = ["tools/verify/fuzz/test/Fuzz.test.ts"]
const files = testFiles(import.meta.dirname)
const long = files.filter((file) => file.endsWith(".long.test.ts"))
const isApart = (file: string): boolean => alone.includes(file) || long.includes(file)
const database = databaseTests(import.meta.dirname).filter((file) => !isApart(file))
const memory = files.filter((file) => !isApart(file) && !database.includes(file))
const globalSetup = ["libs/postgres/testing/globalSetup.ts"]

const startsPrograms = /InBrowser|tools\/(?:local|verify\/faults|cli)\//

/** Begins with the files that start browsers or whole systems: a run is as long as its last file. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const isLast = ({ moduleId }: TestSpecification) => Number(!startsPrograms.test(moduleId))
    return sorted.toSorted((one, other) => isLast(one) - isLast(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Vitest leaves one core free, which on two is half of the machine.
    maxWorkers: "100%",
    // Files share no state, so a process loads each module once for all of its files.
    isolate: false,
    // Node strips the types itself, as it does for the services; Vite would transform every module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Beside other work a test takes several times as long; none waits for its time to pass.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    reporters: ["default"],
    coverage: {
      include: ["{libs,services}/*/src/**/*.ts"],
      reportOnFailure: true,
      reporter: ["text-summary", "html"],
      thresholds: {
        "libs/domain/src/**": { statements: 98, branches: 96, functions: 97, lines: 98 }
      }
    },
    projects: [
      { extends: true, test: { name: "memory", include: memory } },
      { extends: true, test: { name: "database", include: database, globalSetup } },
      {
        extends: true,
        test: {
          name: "alone",
          include: alone,
          globalSetup,
          sequence: { groupOrder: 1 }
        }
      },
      {
        extends: true,
        test: {
          name: "long",
          include: long,
          globalSetup,
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
