/**
 * Builds the package that other teams install: `dist/` has the client and the parts of the API and
 * the domain that it uses, as JavaScript with declarations, and a separate manifest. So `npm pack`
 * there makes a tarball that needs nothing of this workspace.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"

const here = import.meta.dirname
const root = join(here, "../..")
const dist = join(here, "dist")

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
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

const workspaceImport = /(["'])@data-import\/(api|domain)\/([\w/-]+)\1/g

/**
 * Replaces imports of workspace packages, which are not published, by imports of their files here.
 */
const link = (): void => {
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (!/\.(js|d\.ts)$/.test(name)) continue
    const file = join(dist, name)
    const text = readFileSync(file, "utf8")
    const linked = text.replace(
      workspaceImport,
      (_, quote: string, library: string, module: string) => {
        const path = relative(dirname(name), join(library, "src", `${module}.js`))
        return `${quote}${path.startsWith(".") ? path : `./${path}`}${quote}`
      }
    )
    if (linked !== text) writeFileSync(file, linked)
  }
}

const exported = (source: string) => {
  const module = source.replace(/^\.\/(.*)\.ts$/, "./client/$1")
  return { types: `${module}.d.ts`, default: `${module}.js` }
}

const describe = (): void => {
  const { dependencies, engines, exports, name, version } = manifestOf(here)
  const domain = manifestOf(join(root, "libs/domain")).dependencies
  const manifest = {
    name,
    version,
    description: "The client of Data Import, as promises and for Effect",
    license: manifestOf(root).license,
    type: "module",
    sideEffects: false,
    engines,
    exports: Object.fromEntries(
      Object.entries(exports).map(([entry, source]) => [entry, exported(source)])
    ),
    dependencies: {
      ...domain,
      // Only patches may differ, so that a program can share its copy. The HTTP modules may change
      // in a minor version.
      effect: `~${dependencies["effect"]}`
    }
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}

rmSync(dist, { recursive: true, force: true })
compile()
link()
describe()
copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"))
copyFileSync(join(here, "README.md"), join(dist, "README.md"))
