/**
 * The package as another team gets it: built, packed, installed into an empty project outside the
 * workspace, with nothing beside it but what npm brings for its manifest. What it finds in a
 * payload there must be what the service finds here.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { registry } from "../src/codes/Code.ts"
import { validateAccount } from "../src/validation/AccountValidation.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"

const library = join(import.meta.dirname, "..")
const installed = join(library, "../../node_modules")
const project = mkdtempSync(join(tmpdir(), "data-import-consumer-"))
const unpacked = join(project, "node_modules/@data-import/domain")

const run = (program: string, args: ReadonlyArray<string>, cwd: string) =>
  promisify(execFile)(program, args, { cwd })

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
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
import { validateAccount } from "@data-import/domain/validation/AccountValidation"
import { registry } from "@data-import/domain/codes/Code"

const { now, payloads } = JSON.parse(process.argv[2] ?? "")
const codes: ReadonlyArray<string> = Object.keys(registry)
const results = payloads.map((payload: unknown) => {
  const result = validateAccount(payload, DateTime.makeUnsafe(now as string))
  return Result.isSuccess(result)
    ? { accepted: result.success.external_account_number }
    : { faults: result.failure }
})
console.log(JSON.stringify({ codes, results }))
`

/**
 * Compiles only if the declarations are found: a type that is missing would be `any` and allow it.
 */
const misuse = `
import type { Account } from "@data-import/domain/account/Account"
// @ts-expect-error an account number is text
export const wrong = (account: Account): number => account.external_account_number
`

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

beforeAll(async () => {
  await run(process.execPath, ["build.ts"], library)
  await run("npm", ["pack", "--pack-destination", project], join(library, "dist"))
  const [tarball = ""] = readdirSync(project).filter((file) => file.endsWith(".tgz"))
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
  await run(
    "npm",
    ["install", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`],
    project
  )
  writeFileSync(join(project, "consumer.ts"), consumer)
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["consumer.ts", "every.ts"] })
  )
}, 120_000)

afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

/** Every module of the package by the name under which another package imports it. */
const published = (): ReadonlyArray<string> =>
  readdirSync(join(unpacked, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js"))
    .map((file) => `@data-import/domain/${file.slice(0, -".js".length)}`)

describe("the packed domain library", { timeout: 120_000 }, () => {
  it("names no package of the workspace and no loose version", () => {
    const { dependencies } = manifestOf(unpacked)
    expect(Object.keys(dependencies).toSorted()).toEqual(["effect", "libphonenumber-js"])
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it("imports as a whole", async () => {
    const modules = published()
    expect(modules).toContain("@data-import/domain/ports/ImportProcesses")
    const script = modules.map((name) => `await import("${name}")`).join("\n")
    await expect(
      run(process.execPath, ["--input-type=module", "-e", script], project)
    ).resolves.toMatchObject({ stderr: "" })
  })

  it("brings its types", async () => {
    const names = published()
    const imports = names.map((name, index) => `import * as m${index} from "${name}"`)
    const all = `export const all = [${names.map((_, index) => `m${index}`).join(", ")}]`
    writeFileSync(join(project, "every.ts"), [...imports, all, misuse].join("\n"))
    const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js")
    const said = await run(process.execPath, [compiler, "-p", "."], project).catch(
      (failed: { readonly stdout: string }) => failed
    )
    expect(said.stdout).toBe("")
  })

  it("accepts and refuses what the service accepts and refuses, with the same codes", async () => {
    const payloads = [domesticPayload(), brokenPayload()]
    const input = JSON.stringify({ now: sampleTime, payloads })
    const { stdout } = await run(process.execPath, ["consumer.ts", input], project)
    const here = payloads.map((payload) =>
      Result.match(validateAccount(payload, sampleTime), {
        onSuccess: ({ external_account_number }) => ({ accepted: external_account_number }),
        onFailure: (faults) => ({ faults })
      })
    )
    expect(here).toMatchObject([{ accepted: "NL-0004711" }, { faults: { length: 5 } }])
    expect(JSON.parse(stdout)).toEqual({ codes: Object.keys(registry), results: here })
  })
})
