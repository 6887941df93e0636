/**
 * The package as another team gets it: built, packed, and installed into an empty project outside
 * the workspace, with only the dependencies of its manifest. It must report the same errors there
 * as the service here, on the oldest supported Node and on the present one.
 */
import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Result } from "effect"
import ts from "typescript"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { registry } from "../src/codes/Code.ts"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"

const library = join(import.meta.dirname, "..")
const installed = join(library, "../../node_modules")
const project = mkdtempSync(join(tmpdir(), "data-import-consumer-"))
const unpacked = join(project, "node_modules/@data-import/domain")

/** The environment without the variables of vitest and Nx, which would affect the project's own. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST$|NODE_ENV$|FORCE_COLOR$)/.test(name)
  )
)

const run = (program: string, args: ReadonlyArray<string>, cwd: string) =>
  promisify(execFile)(program, args, { cwd, env: environment })

const versionOf = (node: string): string =>
  existsSync(node) ? String(execFileSync(node, ["--version"])).trim() : ""

/** The oldest supported Node as `.ci/nightly` installs it. Without it only the present one is tested. */
const oldest = join(
  library,
  `../../.ci/nightly/node_modules/node-${process.platform}-${process.arch}/bin/node`
)

const nodes = [...(existsSync(oldest) ? [oldest] : []), process.execPath].map(
  (node) => [versionOf(node), node] as const
)

interface Manifest {
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const brokenPayload = () => ({
  ...domesticPayload(),
  billing_email: "nobody",
  transfer_balance: 1.005,
  favourite_colour: "green",
  customers: [{ family_name: "", landline: "12" }]
})

const consumer = `
import { Result, DateTime } from "effect"
import { encodeAccount, parse, registry, validateUnknownAccount } from "@data-import/domain"

const { now, payloads, exact } = JSON.parse(process.argv[2] ?? "") as {
  now: string
  payloads: ReadonlyArray<unknown>
  exact: string
}
const codes: ReadonlyArray<string> = Object.keys(registry)
const at = DateTime.makeUnsafe(now)
const results = payloads.map((payload) => {
  const result = validateUnknownAccount(payload, at)
  return Result.isSuccess(result)
    ? { accepted: result.success.external_account_number }
    : { errors: result.failure }
})
const account = Result.getOrThrow(validateUnknownAccount(Result.getOrThrow(parse(exact)), at))
console.log(JSON.stringify({ codes, results, printed: JSON.stringify(encodeAccount(account)) }))
`

/** Compiles only if the declarations are found and refuse what they should. */
const misuse = `
import { DateTime } from "effect"
import { type Account, type AccountInput, validateAccount } from "@data-import/domain"
// @ts-expect-error an account number is text
export const wrong = (account: Account): number => account.external_account_number
const key = { import_supplier: "S", external_account_number: "1" }
export const known: AccountInput = { ...key, account_type: "DOMESTIC", sales_channel: "DIRECT" }
export const added: AccountInput = { ...key, sales_channel: "OF_THE_OPERATOR", transfer_balance: "1.50" }
export const now = DateTime.nowUnsafe()
// @ts-expect-error not an account type
validateAccount({ ...key, account_type: "DOMESTICC" }, now)
// @ts-expect-error not a field
validateAccount({ ...key, acount_type: "DOMESTIC" }, now)
// @ts-expect-error the key is required
validateAccount({ import_supplier: "S" }, now)
`

/** The examples of the README by their file names. */
const examples = new Map(
  [
    ...readFileSync(join(library, "README.md"), "utf8").matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)
  ].map(([, name = "", code = ""]) => [name, code])
)

const compilerOptions = {
  module: "NodeNext",
  target: "ES2024",
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
  typeRoots: [join(installed, "@types")]
}

/** Writes the source, and a version of it that an older Node can run. */
const write = (name: string, code: string): void => {
  writeFileSync(join(project, name), code)
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const { outputText } = ts.transpileModule(code, { compilerOptions: options })
  writeFileSync(join(project, name.replace(/ts$/, "js")), outputText)
}

beforeAll(async () => {
  await run(process.execPath, ["build.ts"], library)
  await run("npm", ["pack", "--pack-destination", project], join(library, "dist"))
  const [tarball = ""] = readdirSync(project).filter((file) => file.endsWith(".tgz"))
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
  const peers = ["effect", "vitest", "@effect/vitest", "fast-check"].map(
    (name) => `${name}@${manifestOf(join(installed, name)).version}`
  )
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
  await run("npm", ["install", ...options, `./${tarball}`, ...peers], project)
  for (const [name, code] of [["consumer.ts", consumer] as const, ...examples]) write(name, code)
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["consumer.ts", "every.ts", ...examples.keys()] })
  )
}, 240_000)

afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

/** Every module of the package by the name under which another package imports it. */
const published = (): ReadonlyArray<string> =>
  readdirSync(join(unpacked, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js") && file !== "index.js")
    .map((file) => `@data-import/domain/${file.slice(0, -".js".length)}`)

describe("the packed domain library", { timeout: 120_000 }, () => {
  it("depends on no workspace package, and shares its peers by version range", () => {
    const { dependencies, engines, peerDependencies } = manifestOf(unpacked)
    expect(Object.keys(dependencies)).toEqual(["libphonenumber-js"])
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    const peers = ["@effect/vitest", "effect", "fast-check", "vitest"]
    expect(Object.keys(peerDependencies).toSorted()).toEqual(peers)
    for (const range of Object.values(peerDependencies)) expect(range).toMatch(/^\^\d/)
    expect(engines).toEqual({ node: ">=22.19" })
  })

  it("compiles with its types, and so do the examples of the README", async () => {
    const names = ["@data-import/domain", ...published()]
    const imports = names.map((name, index) => `import * as m${index} from "${name}"`)
    const all = `export const all = [${names.map((_, index) => `m${index}`).join(", ")}]`
    writeFileSync(join(project, "every.ts"), [...imports, all, misuse].join("\n"))
    const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js")
    const output = await run(process.execPath, [compiler, "-p", "."], project).catch(
      (failed: { readonly stdout: string }) => failed
    )
    expect(output.stdout).toBe("")
  })

  it("runs a contract suite against another team's adapter", async () => {
    const args = ["node_modules/vitest/vitest.mjs", "run", "documents.test.ts"]
    const { stdout } = await run(process.execPath, args, project)
    expect(stdout).toMatch(/Tests .*\d{2} passed/)
    expect(stdout).not.toContain("failed")
  })
})

describe.each(nodes)("the packed domain library on Node %s", { timeout: 120_000 }, (_, node) => {
  it("can be imported completely", async () => {
    const modules = published()
    expect(modules).toContain("@data-import/domain/imports/ImportProcesses")
    const script = modules.map((name) => `await import("${name}")`).join("\n")
    await expect(run(node, ["--input-type=module", "-e", script], project)).resolves.toMatchObject({
      stderr: ""
    })
  })

  it("runs the examples of the README", async () => {
    const validated = await run(node, ["validate.js"], project)
    expect(validated.stdout).toMatch(/^account_type invalid_choice Must be one of DOMESTIC, /)
    const exchanged = await run(node, ["exchange.js"], project)
    expect(exchanged.stdout).toMatch(/first: true/)
  })

  it("accepts and refuses the same accounts as the service, and keeps every digit", async () => {
    const payloads = [domesticPayload(), brokenPayload()]
    const exact =
      '{"import_supplier":"S","external_account_number":"1","unknown_occupier":true,' +
      '"metadata":[{"key":"k","value":{"n":[12345678901234567890.123456789,1e400]}}]}'
    const input = JSON.stringify({ now: sampleTime, payloads, exact })
    const { stdout } = await run(node, ["consumer.js", input], project)
    const here = payloads.map((payload) =>
      Result.match(validateUnknownAccount(payload, sampleTime), {
        onSuccess: ({ external_account_number }) => ({ accepted: external_account_number }),
        onFailure: (errors) => ({ errors })
      })
    )
    expect(here).toMatchObject([{ accepted: "NL-0004711" }, { errors: { length: 5 } }])
    const codes = Object.keys(registry)
    expect(JSON.parse(stdout)).toEqual({ codes, results: here, printed: exact })
  })
})
