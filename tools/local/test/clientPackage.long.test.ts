/**
 * The client as another team gets it: packed, installed into an empty folder, compiled with its
 * types, and the samples of its README run against the whole system.
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { expect, layer } from "@effect/vitest"
import ts from "typescript"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, it as plainly } from "vitest"
import { clientTenant } from "./clientTenant.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../../..")
const library = join(root, "libs/client")
const project = mkdtempSync(join(tmpdir(), "data-import-client-"))
const unpacked = join(project, "node_modules/@data-import/client")

/** The samples of the README by their file names. */
const samples = new Map(
  [
    ...readFileSync(join(library, "README.md"), "utf8").matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)
  ].map(([, name = "", code = ""]) => [name, code])
)

/** What must not compile, and what must. */
const typed = `
import { ApiError, type CallError, DataImport } from "@data-import/client"
const client = new DataImport({ baseUrl: "http://127.0.0.1", apiKey: "k" })
export const wrong = async () => {
  // @ts-expect-error no operation of the contract
  await client.accountImport.stageAcount()
  // @ts-expect-error the payload is required
  await client.accountImport.stageAccount({})
  // @ts-expect-error not an account type
  return { ...minimal, account_type: "X" } satisfies Account
}
type Account = Parameters<typeof client.accountImport.stageAccount>[0]["payload"]["payload"]
export const minimal: Account = { import_supplier: "S", external_account_number: "1" }
export const narrowed = (error: CallError): number => {
  if (error.code === "batch_line_gap") return error.lines_received
  if (error.code === "events_pruned") return error.oldest_after
  return error instanceof ApiError ? error.statusCode : 0
}
`

const compilerOptions = {
  module: "NodeNext",
  target: "ES2024",
  lib: ["ES2024", "ESNext.Disposable"],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")]
}

/** Writes the source, and beside it what an older Node can run. */
const write = (folder: string, name: string, code: string): void => {
  writeFileSync(join(folder, name), code)
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const { outputText } = ts.transpileModule(code, { compilerOptions: options })
  writeFileSync(join(folder, name.replace(/ts$/, "js")), outputText)
}

beforeAll(async () => {
  await run(process.execPath, ["build.ts"], { cwd: library })
  await run("npm", ["pack", "--pack-destination", project], { cwd: join(library, "dist") })
  const [tarball = ""] = readdirSync(project).filter((file) => file.endsWith(".tgz"))
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
  await run("npm", ["install", ...options, `./${tarball}`], { cwd: project })
  for (const [name, code] of [["typed.ts", typed] as const, ...samples]) write(project, name, code)
  const include = ["typed.ts", ...samples.keys()]
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include }))
}, 240_000)

afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

describe("the packed client", () => {
  plainly("depends on effect and one more package", () => {
    const { dependencies } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    expect(Object.keys(dependencies)).toEqual(["libphonenumber-js", "effect"])
  })

  plainly(
    "compiles with its types, and so do the samples of its README",
    async () => {
      const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js")
      const output = await run(process.execPath, [compiler, "-p", "."], { cwd: project }).catch(
        (failed: { readonly stdout: string }) => failed
      )
      expect(output.stdout).toBe("")
    },
    120_000
  )
})

const book = (numbers: ReadonlyArray<number>): string =>
  numbers
    .map((number) => ({
      external_account_number: `DE-1${number}`,
      unknown_occupier: true,
      transfer_balance: number % 2 === 0 ? "1.234" : "1.23"
    }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the samples of the client",
  (it) => {
    it.effect(
      "run",
      () =>
        Effect.gen(function* () {
          const { apiKey, baseUrl, supplier } = yield* clientTenant()
          const folder = join(project, "samples")
          mkdirSync(folder)
          for (const [name, code] of samples) {
            write(folder, name, code.replaceAll("DEMO_ENERGY", supplier))
          }
          writeFileSync(join(folder, "book.ndjson"), book([1, 2, 3]))
          const { FORCE_COLOR: _, ...inherited } = process.env
          const env = { ...inherited, DATA_IMPORT_URL: baseUrl, DATA_IMPORT_API_KEY: apiKey }
          const outputOf = (sample: string) =>
            Effect.promise(async () => {
              const { stderr, stdout } = await run(process.execPath, [`${sample}.js`], {
                cwd: folder,
                env
              })
              expect(stderr).toBe("")
              return stdout
            })
          expect(yield* outputOf("account")).toMatch(/^created A-[0-9A-F]{8}\n$/)
          expect(yield* outputOf("account")).toMatch(/^exists A-[0-9A-F]{8}\n$/)
          const sent = yield* outputOf("batch")
          expect(sent).toMatch(/^received 3\n/)
          expect(sent).toMatch(/COMPLETED_WITH_FAILURES[^]*failed 2 /)
          const events = yield* outputOf("events")
          expect(events).toMatch(/import_process\.complete-v1 DE-0001\n[^]*read true\n$/)
          expect(yield* outputOf("effect")).toMatch(
            /^transfer_balance max_decimal_places\n[^]*imports true\n$/
          )
          expect(yield* outputOf("webhook")).toBe("")
        }).pipe(Effect.scoped),
      90_000
    )
  }
)
