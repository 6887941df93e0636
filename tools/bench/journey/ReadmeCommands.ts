/** The commands of a whole migration, read from the README of the command. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const readme = join(import.meta.dirname, "../../cli/README.md")
const heading = "## A whole migration in ten commands"

/** The replacements for the placeholders of the README. */
export interface Named {
  readonly url: string
  readonly supplier: string
}

const commandsIn = (text: string): ReadonlyArray<string> => {
  const section = text.split(`${heading}\n`)[1] ?? ""
  const block = /```sh\n([^]*?)```/.exec(section)?.[1] ?? ""
  return block.split("\n").filter((line) => line !== "")
}

/** The command that begins like this, for this deployment and this supplier. */
export const readmeCommands = ({ supplier, url }: Named) => {
  const commands = commandsIn(readFileSync(readme, "utf8")).map((line) =>
    line.replace("https://import.example.com", url).replace("ACME_LEGACY", supplier)
  )
  return {
    count: commands.length,
    command: (name: string): string => {
      const found = commands.filter((line) => line.startsWith(`data-import ${name}`))
      if (found.length !== 1) throw new Error(`The README has ${found.length} commands: ${name}`)
      return found[0] ?? ""
    }
  }
}
