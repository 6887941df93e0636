/**
 * Copies what a package needs to run: its own files and those of the packages of the workspace that
 * it depends on, without tests, what tests share and what has to be built, and the documents that
 * they publish. Plain JavaScript, because it runs before anything is installed:
 *   node docker/copySources.mjs services/query /sources
 */
import { cpSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const [, , main, target] = process.argv

const manifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
const folders = new Map(
  globSync("{libs,services,tools}/*/package.json").map((file) => {
    const folder = dirname(file)
    return [manifest(folder).name, folder]
  })
)

const unused = new Set(["test", "testing", "node_modules", "dist", "web", "README.md", "build.ts"])

const needed = new Set([main])
for (const folder of needed) {
  for (const name of Object.keys(manifest(folder).dependencies ?? {})) {
    if (folders.has(name)) needed.add(folders.get(name))
  }
}
for (const folder of needed) {
  const filter = (path) => !unused.has(basename(path)) && !path.endsWith(".test.ts")
  cpSync(folder, join(target, folder), { recursive: true, filter })
  for (const document of manifest(folder).documents ?? []) {
    cpSync(document, join(target, document), { recursive: true })
  }
}
