/**
 * Builds the package that suppliers install: the command and its threads in one file each, with
 * shared modules beside them, and no dependencies except Node. `node tools/cli/build.ts [folder]`
 * writes it to `dist` unless a folder is given; `npm pack` there makes the tarball.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import manifest from "./package.json" with { type: "json" }

const here = import.meta.dirname
const root = join(here, "../..")
const dist = process.argv[2] ?? join(here, "dist")

/** The folder of the package that a module comes from; none for our own. */
const packageFolder = (module: string): ReadonlyArray<string> => {
  const found = /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(module.replaceAll("\\", "/"))
  return found === null ? [] : [found[0]]
}

const bundle = async (): Promise<ReadonlyArray<string>> => {
  const build = await rolldown({
    input: {
      main: join(here, "main.ts"),
      CheckWorker: join(here, "check/CheckWorker.ts"),
      CertifyWorker: join(here, "certify/CertifyWorker.ts")
    },
    platform: "node"
  })
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    minify: "dce-only",
    chunkFileNames: "[name]-[hash].js"
  })
  await build.close()
  return output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
}

const isLicence = (file: string): boolean => /^(licen[cs]e|notice)(\.|$)/i.test(file)

/** The notices that the licences of the bundled packages require. */
const licencesOf = (folder: string): string => {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly name: string
    readonly version: string
  }
  const texts = readdirSync(folder).filter(isLicence)
  const licences = texts.map((file) => readFileSync(join(folder, file), "utf8").trim())
  return [`${name} ${version}`, ...licences].join("\n\n")
}

const describe = (): void => {
  const { license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly license: string
  }
  const described = {
    name: manifest.name,
    version: manifest.version,
    description: "Checks books of customer accounts by the rules of the data import",
    license,
    type: "module",
    bin: { "data-import": "data-import.cjs" },
    engines: manifest.engines
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(described, null, 2)}\n`)
}

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
const modules = await bundle()
const packages = [...new Set(modules.flatMap(packageFolder))].filter((folder) =>
  existsSync(join(folder, "package.json"))
)
writeFileSync(
  join(dist, "THIRD-PARTY-LICENSES.txt"),
  `${packages.toSorted().map(licencesOf).join("\n\n\n")}\n`
)
describe()
copyFileSync(join(here, "data-import.cjs"), join(dist, "data-import.cjs"))
chmodSync(join(dist, "data-import.cjs"), 0o755)
copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"))
copyFileSync(join(here, "README.md"), join(dist, "README.md"))
