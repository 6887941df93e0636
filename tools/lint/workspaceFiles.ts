/**
 * The workspace as the style tests see it: every file that is not generated, and every package. It
 * needs no Git checkout.
 */
import { readFileSync, readdirSync } from "node:fs"
import { basename, join, relative, sep } from "node:path"

export const root = join(import.meta.dirname, "../..")

const generated = new Set(["node_modules", "dist", "coverage", ".git", ".nx", ".data", ".reports"])

const walk = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return generated.has(entry.name) ? [] : walk(path)
    return entry.isFile() ? [relative(root, path).replaceAll(sep, "/")] : []
  })

/** Paths relative to the workspace, with `/`. */
export const files: ReadonlyArray<string> = walk(root)

export const read = (file: string): string => readFileSync(join(root, file), "utf8")

export const isTest = (file: string): boolean =>
  file.includes("/test/") || file.endsWith(".test.ts")

/** TypeScript and JavaScript, tests included, also with JSX. */
export const modules: ReadonlyArray<string> = files.filter((file) => /\.(tsx?|mjs|js)$/.test(file))

export interface Package {
  /** Its folder, `""` for the workspace itself. */
  readonly folder: string
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly nx?: { readonly tags: ReadonlyArray<string> }
}

/** Those of the workspace. What `.ci/nightly` installs for itself is none. */
export const packages: ReadonlyArray<Package> = files
  .filter((file) => basename(file) === "package.json" && !file.startsWith(".ci/"))
  .map((file) => ({
    dependencies: {},
    devDependencies: {},
    optionalDependencies: {},
    peerDependencies: {},
    ...(JSON.parse(read(file)) as { readonly name: string }),
    folder: file.slice(0, -"/package.json".length)
  }))

/** The package that a module is in. */
export const packageOf = (module: string): string =>
  module.split("/", module.startsWith("@") ? 2 : 1).join("/")
