/**
 * Which test files need PostgreSQL: those that import a module which injects `databaseUrl`,
 * directly or through other modules. Only for them does a test run start a server. The imports
 * are read from the text, because this runs before every test run.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path/posix"

const importPattern = /^(?:import|export)\s(?!type\s)[^"']*?from "([^"]+)"|import\("([^"]+)"\)/gm
const injection = /\binject\("databaseUrl"\)/
const folders = "{libs,services,tools}"

/** Such as `./testing/*` to `./testing/*.ts`. */
type Exports = Readonly<Record<string, string>>

/** Every test file, relative to `root`. */
export const testFiles = (root: string): ReadonlyArray<string> =>
  globSync(`${folders}/**/*.test.ts`, {
    cwd: root,
    exclude: (name) => name.endsWith("node_modules") || name.endsWith("dist")
  }).toSorted()

const exportsByPackage = (root: string): ReadonlyMap<string, readonly [string, Exports]> =>
  new Map(
    globSync(`${folders}/*/package.json`, { cwd: root }).map((file) => {
      const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as {
        readonly name: string
        readonly exports?: Exports
      }
      return [manifest.name, [dirname(file), manifest.exports ?? {}]]
    })
  )

/** Finds the files of the workspace that a file imports when it runs, relative to `root`. */
const importsIn = (root: string): ((file: string) => ReadonlyArray<string>) => {
  const packages = exportsByPackage(root)

  const exported = (specifier: string): ReadonlyArray<string> => {
    const [scope, name, ...rest] = specifier.split("/")
    const [folder, exports] = packages.get(`${scope}/${name}`) ?? ["", {}]
    const path = `./${rest.join("/")}`
    const found = Object.entries(exports).find(([pattern]) =>
      path.startsWith(pattern.split("*", 1)[0] ?? "")
    )
    if (found === undefined) return []
    const [pattern, target] = found
    return [join(folder, target.replace("*", path.slice(pattern.indexOf("*"))))]
  }

  return (file) => {
    if (!file.endsWith(".ts")) return []
    const specifiers = readFileSync(join(root, file), "utf8").matchAll(importPattern)
    return [...specifiers].flatMap(([, named, called]) => {
      const specifier = named ?? called ?? ""
      return specifier.startsWith(".") ? [join(dirname(file), specifier)] : exported(specifier)
    })
  }
}

/** The test files, relative to `root`, that need PostgreSQL. */
export const databaseTests = (root: string): ReadonlyArray<string> => {
  const importsOf = importsIn(root)
  const known = new Map<string, boolean>()
  const needsDatabase = (file: string): boolean => {
    const before = known.get(file)
    if (before !== undefined) return before
    known.set(file, false)
    const needed =
      injection.test(readFileSync(join(root, file), "utf8")) || importsOf(file).some(needsDatabase)
    known.set(file, needed)
    return needed
  }
  return testFiles(root).filter(needsDatabase)
}
