/**
 * What the packages say about each other: exact versions, one version of everything, every import
 * declared by the package that makes it, and a lock file that installs anywhere.
 */
import { dirname, join } from "node:path/posix"
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { isTest, modules, type Package, packageOf, packages, read } from "./lint/workspaceFiles.ts"

const workspace = packages.find(({ folder }) => folder === "")

const installed = (it: Package) => ({
  ...it.dependencies,
  ...it.devDependencies,
  ...it.optionalDependencies
})

const importsOf = (file: string): ReadonlyArray<string> =>
  ts.preProcessFile(read(file), true, true).importedFiles.map(({ fileName }) => fileName)

/** The packages that a file imports, its own excepted. */
const importedBy = (file: string): ReadonlyArray<string> =>
  importsOf(file)
    .filter((name) => name !== "" && !name.startsWith(".") && !name.startsWith("node:"))
    .map(packageOf)

/** The nodes on cycles: all others are removed step by step. */
const inCircles = (all: Iterable<readonly [string, ReadonlyArray<string>]>) => {
  const left = new Map(all)
  for (;;) {
    const imported = new Set([...left.values()].flat())
    const ends = [...left].filter(
      ([file, paths]) => !imported.has(file) || !paths.some((path) => left.has(path))
    )
    if (ends.length === 0) return [...left.keys()]
    for (const [file] of ends) left.delete(file)
  }
}

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const locked = Object.entries(
  (JSON.parse(read("package-lock.json")) as { readonly packages: Record<string, Locked> }).packages
)

describe("packages", () => {
  it("runs every service in a container too", () => {
    const services = packages.map(({ folder }) => folder).filter((it) => it.startsWith("services/"))
    const composed = read("docker/compose.yaml").matchAll(/PACKAGE: (services\/[\w-]+)/g)
    expect([...composed].map(([, folder]) => folder).toSorted()).toEqual(services.toSorted())
  })

  it("has no package that depends on itself through others", () => {
    const depends = packages.map((it) => [it.name, Object.keys(installed(it))] as const)
    expect(inCircles(depends)).toEqual([])
  })

  it("has no file that imports itself through others of its package", () => {
    const imports = modules.map((file) => {
      const paths = importsOf(file).filter((name) => name.startsWith("."))
      return [file, paths.map((name) => join(dirname(file), name))] as const
    })
    expect(inCircles(imports)).toEqual([])
  })

  it("pins every dependency exactly", () => {
    const loose = packages.flatMap((it) =>
      Object.entries(installed(it))
        .filter(([, version]) => !/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${it.name}: ${name}@${version}`)
    )
    expect(loose).toEqual([])
  })

  it("uses one version of everything", () => {
    const versions = new Map<string, Set<string>>()
    for (const [name, version] of packages.flatMap((it) => Object.entries(installed(it)))) {
      versions.set(name, (versions.get(name) ?? new Set()).add(version))
    }
    expect([...versions].filter(([, several]) => several.size > 1)).toEqual([])
  })

  it("declares what it imports; tests may use packages of the workspace", () => {
    const undeclared = packages
      .filter((it) => it !== workspace)
      .flatMap((it) =>
        modules
          .filter((file) => file.startsWith(`${it.folder}/`))
          .flatMap((file) => {
            const known = { ...installed(it), ...it.peerDependencies }
            const leans = isTest(file) || file.includes("/testing/")
            const ofWorkspace = leans && workspace ? installed(workspace) : {}
            return importedBy(file)
              .filter((name) => name !== it.name && !(name in known) && !(name in ofWorkspace))
              .map((name) => `${file}: ${name}`)
          })
      )
    expect(undeclared).toEqual([])
  })

  it("names no host in the lock file", () => {
    expect(locked.filter(([, { resolved = "" }]) => /:\/\//.test(resolved))).toEqual([])
  })

  it("locks every package to its content", () => {
    const open = locked.filter(
      ([path, { integrity, link }]) =>
        path.includes("node_modules/") && link !== true && integrity === undefined
    )
    expect(open).toEqual([])
  })

  it("locks the packages of every platform, which npm ci requires", () => {
    const present = new Set(locked.map(([path]) => path.split("node_modules/").at(-1)))
    const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !present.has(name))
        .map((name) => `${path}: ${name}`)
    )
    expect(missing).toEqual([])
  })
})
