/** The third-party images of the tests: those that docker/compose.yaml names, and a registry. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export const composeFolder = join(import.meta.dirname, "../../docker")

export const registryImage = "registry:2.8.2"

/** @throws Error if the file does not name one */
export const imageOf = (service: string): string => {
  const text = readFileSync(join(composeFolder, "compose.yaml"), "utf8")
  const [, section = ""] = text.split(`\n  ${service}:\n`)
  const [, image] = /^ {4}image: (\S+)$/m.exec(section) ?? []
  if (image === undefined) throw new Error(`compose.yaml has no image of ${service}`)
  return image
}
