/**
 * Which modules of Effect are unstable, read from the installed package: every module says in its
 * opening docblock whether it is stable. It is a separate module because the lint configuration and
 * its test both use it. A list kept by hand would be wrong after the next upgrade.
 */
import { readFileSync, readdirSync } from "node:fs"

const source = new URL("../../node_modules/effect/src/", import.meta.url)

const isUnstable = (file: string): boolean => {
  const opening = readFileSync(new URL(file, source), "utf8").split("*/", 1)[0] ?? ""
  return opening.includes("@stability unstable")
}

/** Names such as `FileSystem`, importable as `effect/FileSystem` or out of `effect`. */
export const unstableModules = (): ReadonlyArray<string> =>
  readdirSync(source)
    .filter((file) => file.endsWith(".ts") && file !== "index.ts" && isUnstable(file))
    .map((file) => file.slice(0, -".ts".length))

/**
 * Folders such as `http`, whose modules are importable as `effect/http` or
 * `effect/http/HttpClient`.
 */
export const folders = (): ReadonlyArray<string> =>
  readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "internal")
    .map((entry) => entry.name)
