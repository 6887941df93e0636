/**
 * Builds the package that other teams install: `dist/` is complete in itself, with JavaScript,
 * declarations and a manifest of its own, so that `npm pack` there makes a tarball that needs
 * nothing of this workspace. Inside the workspace everybody imports the TypeScript as it is; only
 * this package is ever compiled.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const here = import.meta.dirname
const root = join(here, "../..")
const dist = join(here, "dist")

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, unknown>>
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const compile = (): void => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js")
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], {
    cwd: here,
    stdio: ["ignore", "inherit", "inherit"]
  })
  if (status !== 0) process.exit(status ?? 1)
}

const exported = (folder: string) => ({
  types: `./${folder}/*.d.ts`,
  default: `./${folder}/*.js`
})

const describe = (): void => {
  const manifestHere = manifestOf(here)
  const { dependencies, engines, name, peerDependencies, peerDependenciesMeta } = manifestHere
  const manifest = {
    name,
    version: manifestHere.version,
    description: "The rules of the data import, to validate accounts without the service",
    license: manifestOf(root).license,
    type: "module",
    sideEffects: false,
    engines,
    exports: {
      ".": { types: "./src/index.d.ts", default: "./src/index.js" },
      "./testing/*": exported("testing"),
      "./*": exported("src")
    },
    dependencies,
    peerDependencies,
    peerDependenciesMeta
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}

rmSync(dist, { recursive: true, force: true })
compile()
describe()
copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"))
if (existsSync(join(here, "README.md"))) {
  copyFileSync(join(here, "README.md"), join(dist, "README.md"))
}
