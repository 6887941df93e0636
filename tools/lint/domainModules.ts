/**
 * What the modules of the domain are. A port declares what programs need of the world. A program
 * imports a port, or another program. All others are nouns: values with their rules.
 */
import { dirname, join } from "node:path/posix"
import { files, read } from "./workspaceFiles.ts"

export type Kind = "noun" | "port" | "program"

const source = /^libs\/domain\/src\/.*\.ts$/
const port = /\("@data-import\/domain\/ports\/\w+"/

const importsOf = (file: string, text: string): ReadonlyArray<string> =>
  [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, module = ""]) => join(dirname(file), module))

const kinds = (): ReadonlyMap<string, Kind> => {
  const texts = files.filter((file) => source.test(file)).map((file) => [file, read(file)] as const)
  const imports = new Map(texts.map(([file, text]) => [file, importsOf(file, text)]))
  const found = new Map<string, Kind>(
    texts.map(([file, text]) => [file, port.test(text) ? "port" : "noun"])
  )
  const isProgram = (file: string) =>
    found.get(file) === "noun" &&
    imports.get(file)?.some((module) => (found.get(module) ?? "noun") !== "noun")
  for (let next = [...found.keys()].filter(isProgram); next.length > 0;) {
    for (const file of next) found.set(file, "program")
    next = [...found.keys()].filter(isProgram)
  }
  return found
}

let known: ReadonlyMap<string, Kind> | undefined

/** The kind of a module by its path in the workspace; undefined outside of the domain. */
export const kindOf = (file: string): Kind | undefined => (known ??= kinds()).get(file)

/** Whether the text declares a port. */
export const isPort = (text: string): boolean => port.test(text)
