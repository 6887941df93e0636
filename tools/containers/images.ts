/** The third-party images that the system runs on, as docker/compose.yaml names them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export const composeFolder = join(import.meta.dirname, "../../docker")

/** @throws Error where the file does not name one */
export const imageOf = (service: string): string => {
  const text = readFileSync(join(composeFolder, "compose.yaml"), "utf8")
  const [, section = ""] = text.split(`\n  ${service}:\n`)
  const [, image] = /^ {4}image: (\S+)$/m.exec(section) ?? []
  if (image === undefined) throw new Error(`compose.yaml has no image of ${service}`)
  return image
}
