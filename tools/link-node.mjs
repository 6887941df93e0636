/**
 * Runs after every install: makes npm scripts find the Node of the npm package first. npm links it
 * as well, but some versions of npm remove that link together with the package for the other
 * processor, whose command has the same name.
 */
import { existsSync, rmSync, symlinkSync } from "node:fs"

const modules = new URL("../node_modules/", import.meta.url)
const program = `node-${process.platform}-${process.arch}/bin/node`

if (existsSync(new URL(program, modules))) {
  const link = new URL(".bin/node", modules)
  rmSync(link, { force: true })
  symlinkSync(`../${program}`, link)
}
