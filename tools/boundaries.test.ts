/**
 * Tests that the dependency rule works, because a pattern with a mistake would match nothing. Each
 * line below breaks the rule on purpose, and expects to be caught by the rule named beside it.
 */
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { brokenBoundaries } from "./lint/boundaries.ts"
import { unstableModules } from "./lint/effectStability.ts"

const rulesBroken = (file: string, text: string): ReadonlyArray<string> => {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  return brokenBoundaries(file, tree).map(({ rule }) => rule)
}

const importing = (module: string) => `import * as Found from "${module}"\nexport { Found }`

const forbidden: ReadonlyArray<readonly [file: string, module: string, rule: string]> = [
  ["libs/domain/src/Made.ts", "@data-import/api/ErrorResponse", "layers"],
  ["libs/domain/test/Made.test.ts", "@data-import/postgres/Client", "layers"],
  ["libs/domain/src/Made.ts", "@data-import/domain/Code", "layers"],
  ["libs/domain/src/Made.ts", "../../api/src/ErrorResponse.ts", "layers"],
  ["libs/api/src/Made.ts", "@data-import/server/Health", "layers"],
  ["libs/api/src/Made.ts", "@data-import/postgres/Client", "layers"],
  ["libs/client/src/Made.ts", "@data-import/server/Health", "layers"],
  ["libs/client/src/Made.ts", "@effect/platform-node/NodeHttpClient", "platform"],
  ["libs/client/src/Made.ts", "node:crypto", "portable"],
  ["libs/postgres/src/Made.ts", "@data-import/api/ErrorResponse", "layers"],
  ["libs/documents/src/Made.ts", "@data-import/server/Health", "layers"],
  ["libs/server/src/Made.ts", "@data-import/postgres/Client", "layers"],
  ["services/query/src/Made.ts", "@data-import/auth/Handlers", "layers"],
  ["services/query/src/Made.ts", "../../auth/src/Handlers.ts", "layers"],
  ["services/query/src/Made.ts", "@data-import/operator/main", "layers"],
  ["services/gateway/src/Made.ts", "@data-import/postgres/Client", "layers"],
  ["libs/domain/src/Made.ts", "node:fs", "pure-domain"],
  ["libs/domain/src/Made.ts", "jose", "pure-domain"],
  ["libs/domain/src/Made.ts", "effect/http", "stable-effect"],
  ["libs/domain/src/Made.ts", "effect/http/HttpClient", "stable-effect"],
  ["libs/domain/src/Made.ts", "effect/FileSystem", "stable-effect"],
  ["services/query/src/Made.ts", "@effect/sql-pg", "postgres-driver"],
  ["tools/operator/Made.ts", "@effect/sql-pg", "postgres-driver"],
  ["services/query/src/Made.ts", "effect/sql", "sql"],
  ["libs/api/src/Made.ts", "pg", "sql"],
  ["services/account-import/Made.ts", "@aws-sdk/client-s3", "documents-driver"],
  ["services/query/src/Handlers.ts", "@effect/platform-node", "platform"],
  ["tools/local/Made.ts", "@effect/platform-node", "platform-modules"],
  ["libs/domain/src/Made.ts", "../testing/Samples.ts", "testing-kit"],
  ["libs/api/src/Made.ts", "@data-import/domain/testing/Samples", "testing-kit"],
  ["services/query/src/main.ts", "@data-import/domain/testing/Samples", "testing-kit"],
  ["libs/server/src/Made.ts", "vitest", "testing-kit"],
  ["libs/server/src/Made.ts", "../../../tools/openapi.ts", "tool"],
  ["services/query/test/Made.test.ts", "../../../tools/local/main.ts", "tool"],
  ["libs/domain/src/schema/Made.ts", "../accounts/Account.ts", "order-domain-foundation"],
  ["libs/domain/src/support/Made.ts", "../schema/Field.ts", "order-domain-support"],
  ["libs/domain/src/imports/Made.ts", "../board/Masking.ts", "order-domain-board"],
  ["libs/postgres/src/connection/Made.ts", "../accounts/Accounts.ts", "order-postgres-connection"],
  ["libs/server/src/http/Made.ts", "../routing/Route.ts", "order-server-http"]
]

const permitted: ReadonlyArray<readonly [file: string, module: string]> = [
  ["libs/domain/src/Made.ts", "effect/Schema"],
  ["libs/domain/src/Made.ts", "./documents/Documents.ts"],
  ["libs/domain/testing/Made.ts", "effect/Arbitrary"],
  ["libs/api/src/Made.ts", "@data-import/domain/Code"],
  ["libs/api/src/Made.ts", "effect/http-api"],
  ["libs/client/src/Made.ts", "@data-import/api/Api"],
  ["libs/client/test/Made.test.ts", "node:http"],
  ["tools/local/Made.ts", "@data-import/client/effect"],
  ["libs/postgres/src/Made.ts", "@effect/sql-pg"],
  ["libs/postgres/src/main.ts", "@effect/platform-node/NodeRuntime"],
  ["libs/postgres/test/Made.test.ts", "@data-import/domain/testing/Samples"],
  ["libs/server/src/Made.ts", "@effect/platform-node/NodeRuntime"],
  ["services/query/src/main.ts", "@effect/platform-node/NodeRuntime"],
  ["services/query/src/Made.ts", "@data-import/server/Health"],
  ["services/gateway/src/Made.ts", "@data-import/api/ErrorResponse"],
  ["tools/local/main.ts", "@data-import/query/Handlers"]
]

const ambient: ReadonlyArray<readonly [file: string, text: string]> = [
  ["libs/domain/src/Made.ts", "export const now = () => Date.now()"],
  ["services/query/src/Made.ts", "export const now = () => Date()"],
  ["libs/server/src/Made.ts", "export const chance = Math.random()"],
  ["libs/server/src/Made.ts", 'console.log("here")'],
  ["services/auth/src/main.ts", 'console.error("here")']
]

describe("the dependency rule", () => {
  it.each(forbidden)("refuses in %s an import of %s", (file, module, rule) => {
    expect(rulesBroken(file, importing(module))).toContain(rule)
  })

  it.each(permitted)("allows in %s an import of %s", (file, module) => {
    expect(rulesBroken(file, importing(module))).toEqual([])
  })

  it.each([
    ["../imports/AccountImport.ts", ["order-port"]],
    ["../imports/ImportProcess.ts", []],
    ["../accounts/Accounts.ts", []]
  ])("lets a port import %s: %s", (module, broken) => {
    const port = 'Context.Service<Made, {}>()("@data-import/domain/ports/Made")'
    const text = `${importing(module)}\nexport const Made = ${port}`
    expect(rulesBroken("libs/domain/src/events/Made.ts", text)).toEqual(broken)
  })

  it("allows the domain a stable module of effect by its name", () => {
    const text = 'export { Effect, Schema } from "effect"'
    expect(rulesBroken("libs/domain/src/Made.ts", text)).toEqual([])
  })

  it.each([
    'export type { Client } from "@effect/sql-pg"',
    'export * from "@effect/sql-pg"',
    'import "@effect/sql-pg"',
    'import Found = require("@effect/sql-pg")',
    'export type Found = import("@effect/sql-pg").Client',
    'export const found = () => import("@effect/sql-pg")'
  ])("sees every kind of import: %s", (text) => {
    expect(rulesBroken("services/query/src/Made.ts", text)).toEqual(["postgres-driver"])
  })

  it("refuses the domain all modules of effect at once", () => {
    expect(rulesBroken("libs/domain/src/Made.ts", importing("effect"))).toEqual(["stable-effect"])
  })

  it("refuses every unstable module of effect by its name in the domain", () => {
    const names = unstableModules()
    expect(names).toContain("FileSystem")
    const text = names.map((name) => `export { ${name} } from "effect"`).join("\n")
    const broken = rulesBroken("libs/domain/src/Made.ts", text)
    expect(broken.filter((rule) => rule === "stable-effect")).toHaveLength(names.length)
  })
})

describe("what source may not do by itself", () => {
  it.each(ambient)("refuses in %s: %s", (file, text) => {
    expect(rulesBroken(file, text)).toEqual(["ambient"])
  })
})
