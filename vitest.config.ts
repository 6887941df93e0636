/**
 * How every test runs: files side by side in as many processes as there are cores, all on one
 * PostgreSQL that is started before them and stopped after them.
 */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{libs,services,tools}/**/*.test.ts"],
    globalSetup: ["libs/postgres/testing/globalSetup.ts"],
    setupFiles: ["libs/server/testing/compiledSchemas.ts"],
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    reporters: ["default"]
  }
})
