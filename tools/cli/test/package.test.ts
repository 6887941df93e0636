/**
 * The package as a supplier gets it: built, packed, and installed into an empty folder outside the
 * workspace. It needs nothing beside it, and says on an older Node what it needs.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { account, book } from "./commandLine.ts"

const tool = join(import.meta.dirname, "..")
const project = mkdtempSync(join(tmpdir(), "data-import-supplier-"))
const dist = join(project, "dist")
const command = join(project, "node_modules/@data-import/cli/data-import.cjs")
/** Without what vitest tells its workers. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_)/.test(name))
)

const run = (program: string, args: ReadonlyArray<string>, input = "") => {
  const options = { cwd: project, env, input, encoding: "utf8" } as const
  const { status, stderr, stdout } = spawnSync(program, args, options)
  return { status, err: stderr, out: stdout }
}

const npm = (...args: ReadonlyArray<string>) => {
  const { err, out, status } = run("npm", args)
  if (status !== 0) throw new Error(`npm ${args.join(" ")} ended with ${status}: ${err}${out}`)
}

const dataImport = (...args: ReadonlyArray<string>) => run(process.execPath, [command, ...args])

describe("the package", () => {
  beforeAll(() => {
    expect(run(process.execPath, [join(tool, "build.ts"), dist])).toMatchObject({ status: 0 })
    npm("pack", dist, "--pack-destination", project)
    writeFileSync(join(project, "package.json"), '{"private": true}')
    const tarball = readdirSync(project).find((file) => file.endsWith(".tgz")) ?? ""
    npm("install", "--offline", "--no-audit", "--no-fund", `./${tarball}`)
  }, 120_000)

  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it("has a command, no dependencies, and the licences of what is in it", () => {
    const packed = join(project, "node_modules/@data-import/cli")
    expect(JSON.parse(readFileSync(join(packed, "package.json"), "utf8"))).toMatchObject({
      bin: { "data-import": "data-import.cjs" },
      engines: { node: ">=22.19" }
    })
    expect(readdirSync(join(project, "node_modules/@data-import"))).toEqual(["cli"])
    const licences = readFileSync(join(packed, "THIRD-PARTY-LICENSES.txt"), "utf8")
    for (const name of ["effect", "libphonenumber-js", "log-update"]) {
      expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"))
    }
  })

  it("loads a command only for a line that names it", () => {
    const packed = join(project, "node_modules/@data-import/cli")
    const isLoaded = new Set(["main.js"])
    for (const file of isLoaded) {
      const text = readFileSync(join(packed, file), "utf8")
      for (const [, name = ""] of text.matchAll(/^import .*"\.\/([^"]+)";?$/gm)) isLoaded.add(name)
    }
    expect(isLoaded.size).toBeGreaterThan(1)
    const commands = /^(Batch|Check|Configuration|Connection|Documents|Events|Login|Queries|Send)-/
    expect(readdirSync(packed).filter((file) => commands.test(file)).length).toBeGreaterThan(8)
    expect([...isLoaded].filter((file) => commands.test(file))).toEqual([])
  })

  it("checks a book", () => {
    writeFileSync(join(project, "good.ndjson"), book(account()))
    writeFileSync(join(project, "bad.ndjson"), book(account({ transfer_balance: 1.005 })))
    expect(dataImport("check", "good.ndjson", "--output", "page.html")).toMatchObject({ status: 0 })
    expect(existsSync(join(project, "page.html"))).toBe(true)
    const bad = dataImport("check", "bad.ndjson", "--json")
    expect(bad).toMatchObject({ status: 1, err: "" })
    expect(JSON.parse(bad.out)).toMatchObject({
      failed_lines: 1,
      problems: [{ code: "max_decimal_places", attr: "transfer_balance" }]
    })
    expect(dataImport("check")).toMatchObject({ status: 2, out: "" })
  })

  it("reads the standard input", () => {
    const { out, status } = run(process.execPath, [command, "check", "-"], book(account(), "[]"))
    expect(status).toBe(1)
    expect(out).toMatch(/2 lines: 1 valid, 1 failed/)
  })

  it("says what it needs on an older Node", () => {
    const older = join(project, "older.cjs")
    writeFileSync(
      older,
      `const versions = { ...process.versions, node: "22.18.0" }
Object.defineProperties(process, { versions: { value: versions }, version: { value: "v22.18.0" } })`
    )
    const { err, out, status } = run(process.execPath, ["--require", older, command, "--version"])
    expect({ status, out }).toEqual({ status: 2, out: "" })
    expect(err).toMatch(/needs Node.js 22.19 or newer, and this is v22.18.0/)
  })

  it("completes its subcommands and options in bash", () => {
    const script = dataImport("--completions", "bash").out
    const words = (line: string) => {
      const asked = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
COMP_LINE="${line}"; COMP_POINT=\${#COMP_LINE}; \${handler##* } data-import; echo "\${COMPREPLY[@]}"`
      const handler = 'handler=$(complete -p data-import | sed "s/ data-import$//")'
      return run("bash", ["--norc"], `${script}\n${handler}\n${asked}\n`).out
    }
    expect(words("data-import ch")).toMatch(/\bcheck\b/)
    expect(words("data-import check --conf")).toMatch(/--configuration/)
    expect(dataImport("--completions", "zsh").out).toMatch(/^#compdef data-import/)
  })
})
