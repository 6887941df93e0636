/**
 * Proof that the dependency rule is awake. A boundary rule can sleep: the Nx rule passes everything
 * when it finds no project graph, and a pattern with a slip matches nothing. So each line below
 * breaks the rule on purpose, at a path where it must not be broken, and expects to be caught by
 * the rule named beside it.
 */
import { join } from "node:path"
import { ESLint } from "eslint"
import { describe, expect, it } from "vitest"
import { unstableModules } from "./lint/effectStability.ts"
import { root } from "./lint/workspaceFiles.ts"

const linter = new ESLint({ cwd: root })

const rulesBroken = async (file: string, text: string): Promise<ReadonlyArray<string>> => {
  const [result] = await linter.lintText(`${text}\n`, { filePath: join(root, file) })
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message)
}

const importing = (module: string) => `import * as Found from "${module}"\nexport { Found }`

const nx = "@nx/enforce-module-boundaries"

const forbidden: ReadonlyArray<readonly [file: string, module: string, rule: string]> = [
  ["libs/domain/src/Made.ts", "@data-import/api/ErrorResponse", nx],
  ["libs/domain/src/ports/Made.ts", "@data-import/postgres/Client", nx],
  ["libs/domain/test/Made.test.ts", "@data-import/postgres/Client", nx],
  ["libs/domain/src/Made.ts", "@data-import/domain/Code", nx],
  ["libs/domain/src/Made.ts", "../../api/src/ErrorResponse.ts", nx],
  ["libs/api/src/Made.ts", "@data-import/server/Health", nx],
  ["libs/api/src/Made.ts", "@data-import/postgres/Client", nx],
  ["libs/postgres/src/Made.ts", "@data-import/api/ErrorResponse", nx],
  ["libs/postgres/src/Made.ts", "@data-import/documents/S3", nx],
  ["libs/documents/src/Made.ts", "@data-import/server/Health", nx],
  ["libs/server/src/Made.ts", "@data-import/postgres/Client", nx],
  ["libs/server/src/Made.ts", "@data-import/local/main", nx],
  ["services/query/src/Made.ts", "@data-import/auth/Handlers", nx],
  ["services/query/src/Made.ts", "../../auth/src/Handlers.ts", nx],
  ["services/query/src/Made.ts", "@data-import/operator/main", nx],
  ["services/gateway/src/Made.ts", "@data-import/postgres/Client", nx],
  ["services/gateway/src/Made.ts", "@data-import/query/Handlers", nx],
  ["libs/domain/src/Made.ts", "node:fs", "only-pure-domain/imports"],
  ["libs/domain/src/Made.ts", "fs", "only-pure-domain/imports"],
  ["libs/domain/src/ports/Made.ts", "node:crypto", "only-pure-domain/imports"],
  ["libs/domain/src/Made.ts", "@effect/platform-node", "only-pure-domain/imports"],
  ["libs/domain/src/ports/Made.ts", "@effect/sql-pg", "only-pure-domain/imports"],
  ["libs/domain/src/Made.ts", "jose", "only-pure-domain/imports"],
  ["libs/domain/src/Made.ts", "effect/http", "only-stable-effect/imports"],
  ["libs/domain/src/Made.ts", "effect/http/HttpClient", "only-stable-effect/imports"],
  ["libs/domain/src/Made.ts", "effect/http-api", "only-stable-effect/imports"],
  ["libs/domain/src/ports/Made.ts", "effect/sql", "only-stable-effect/imports"],
  ["libs/domain/src/ports/Made.ts", "effect/sql/SqlClient", "only-stable-effect/imports"],
  ["libs/domain/src/Made.ts", "effect/FileSystem", "only-stable-effect/imports"],
  ["services/query/src/Made.ts", "@effect/sql-pg", "only-postgres-driver/imports"],
  ["libs/server/src/Made.ts", "@effect/sql-pg", "only-postgres-driver/imports"],
  ["tools/operator/Made.ts", "@effect/sql-pg", "only-postgres-driver/imports"],
  ["services/query/src/Made.ts", "effect/sql", "only-sql/imports"],
  ["libs/api/src/Made.ts", "pg", "only-sql/imports"],
  ["services/account-import/Made.ts", "@aws-sdk/client-s3", "only-documents-driver/imports"],
  ["libs/postgres/src/Made.ts", "@aws-sdk/client-s3", "only-documents-driver/imports"],
  ["services/query/src/Handlers.ts", "@effect/platform-node", "only-platform/imports"],
  ["libs/postgres/src/Made.ts", "@effect/platform-node", "only-platform/imports"],
  ["tools/local/Made.ts", "@effect/platform-node", "only-platform-modules/imports"],
  ["libs/domain/src/Made.ts", "../testing/Samples.ts", "only-testing-kit/imports"],
  ["libs/api/src/Made.ts", "@data-import/domain/testing/Samples", "only-testing-kit/imports"],
  ["services/query/src/main.ts", "@data-import/domain/testing/Samples", "only-testing-kit/imports"],
  ["libs/server/src/Made.ts", "effect/testing", "only-testing-kit/imports"],
  ["libs/server/src/Made.ts", "vitest", "only-testing-kit/imports"],
  ["libs/server/src/Made.ts", "../../../tools/openapi.ts", "only-tool/imports"],
  ["services/query/test/Made.test.ts", "../../../tools/local/main.ts", "only-tool/imports"],
  ["libs/domain/src/account/Made.ts", "../ports/Documents.ts", "only-order-domain-account/imports"],
  [
    "libs/domain/src/ports/memory/Made.ts",
    "../../import/AccountImport.ts",
    "only-order-domain-ports/imports"
  ],
  [
    "libs/domain/src/import/Made.ts",
    "../post-import/PostImport.ts",
    "only-order-domain-import/imports"
  ],
  [
    "libs/postgres/src/connection/Made.ts",
    "../accounts/Accounts.ts",
    "only-order-postgres-connection/imports"
  ],
  ["libs/server/src/http/Made.ts", "../routing/Route.ts", "only-order-server-http/imports"]
]

const permitted: ReadonlyArray<readonly [file: string, module: string]> = [
  ["libs/domain/src/Made.ts", "effect/Schema"],
  ["libs/domain/src/Made.ts", "libphonenumber-js"],
  ["libs/domain/src/Made.ts", "./ports/Documents.ts"],
  ["libs/domain/src/ports/Made.ts", "../account/Account.ts"],
  ["libs/domain/testing/Made.ts", "effect/Arbitrary"],
  ["libs/api/src/Made.ts", "@data-import/domain/Code"],
  ["libs/api/src/Made.ts", "effect/http-api"],
  ["libs/postgres/src/Made.ts", "@effect/sql-pg"],
  ["libs/postgres/src/Made.ts", "effect/sql"],
  ["libs/postgres/src/main.ts", "@effect/platform-node/NodeRuntime"],
  ["libs/postgres/test/Made.test.ts", "@data-import/domain/testing/Samples"],
  ["libs/server/src/Made.ts", "@effect/platform-node/NodeRuntime"],
  ["services/query/src/main.ts", "@effect/platform-node/NodeRuntime"],
  ["services/query/src/main.ts", "@data-import/postgres/Client"],
  ["services/query/src/Made.ts", "@data-import/server/Health"],
  ["services/gateway/src/Made.ts", "@data-import/api/ErrorResponse"],
  ["services/gateway/src/Made.ts", "@data-import/domain/codes/Code"],
  ["tools/local/main.ts", "@data-import/query/Handlers"],
  ["tools/local/main.ts", "@effect/platform-node/NodeRuntime"]
]

const ambient: ReadonlyArray<readonly [file: string, text: string, rule: string]> = [
  ["libs/domain/src/Made.ts", "export const now = () => Date.now()", "no-restricted-syntax"],
  ["libs/domain/src/ports/Made.ts", "export const now = () => new Date(0)", "no-restricted-syntax"],
  ["services/query/src/Made.ts", "export const now = () => Date()", "no-restricted-syntax"],
  ["libs/server/src/Made.ts", "export const chance = Math.random()", "no-restricted-syntax"],
  ["libs/server/src/Made.ts", 'console.log("here")', "no-console"],
  ["services/auth/src/main.ts", 'console.error("here")', "no-console"]
]

describe("the dependency rule", { timeout: 60_000 }, () => {
  it.each(forbidden)("refuses in %s an import of %s", async (file, module, rule) => {
    expect(await rulesBroken(file, importing(module))).toContain(rule)
  })

  it.each(permitted)("allows in %s an import of %s", async (file, module) => {
    expect(await rulesBroken(file, importing(module))).toEqual([])
  })

  it("allows the domain a stable module of effect by its name", async () => {
    const text = 'export { Effect, Schema } from "effect"'
    expect(await rulesBroken("libs/domain/src/Made.ts", text)).toEqual([])
  })

  it("sees an import that brings types only", async () => {
    const text = 'export type { Client } from "@effect/sql-pg"'
    expect(await rulesBroken("services/query/src/Made.ts", text)).toContain(
      "only-postgres-driver/imports"
    )
  })

  it("refuses every unstable module of effect by its name in the domain", async () => {
    const names = unstableModules()
    expect(names).toContain("FileSystem")
    const text = names.map((name) => `export { ${name} } from "effect"`).join("\n")
    const broken = await rulesBroken("libs/domain/src/Made.ts", text)
    expect(broken.filter((rule) => rule === "only-stable-effect/imports")).toHaveLength(
      names.length
    )
  })
})

describe("what source may not do by itself", { timeout: 60_000 }, () => {
  it.each(ambient)("refuses in %s: %s", async (file, text, rule) => {
    expect(await rulesBroken(file, text)).toContain(rule)
  })
})
