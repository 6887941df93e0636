/**
 * The tests that need a container engine: the contracts of the adapters on servers in containers,
 * and the composed system. One file after the other, because a build takes every core.
 */
import { join } from "node:path"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../.."),
    include: ["libs/postgres/test/*{c,C}ontract*.test.ts", "tools/containers/test/*.suite.ts"],
    globalSetup: [join(import.meta.dirname, "databaseServer.ts")],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 1_200_000,
    teardownTimeout: 120_000,
    reporters: ["default"]
  }
})
