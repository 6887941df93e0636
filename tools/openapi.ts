/**
 * Writes `libs/api/openapi.json` from the definitions in `libs/api`. With `--check` it writes
 * nothing, and exits with 1 when the file is stale, naming the first differences.
 */
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { document } from "@data-import/api/OpenApiDocument"

const file = fileURLToPath(new URL("../libs/api/openapi.json", import.meta.url))
const shown = 10

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null

const brief = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** The paths at which two documents differ, as deep as both have them. */
const differences = (written: unknown, current: unknown, at: string): ReadonlyArray<string> => {
  if (!isObject(written) || !isObject(current)) {
    return Object.is(written, current)
      ? []
      : [`${at}\n  written: ${brief(written)}\n  defined: ${brief(current)}`]
  }
  const keys = new Set([...Object.keys(written), ...Object.keys(current)])
  return [...keys].flatMap((key) => differences(written[key], current[key], `${at}/${key}`))
}

const readWritten = async (): Promise<string> => {
  try {
    return await readFile(file, "utf8")
  } catch (cause) {
    if (isObject(cause) && cause["code"] === "ENOENT") return ""
    throw cause
  }
}

const check = async (current: string): Promise<void> => {
  const written = await readWritten()
  if (written === current) return
  const found = written === "" ? [] : differences(JSON.parse(written), JSON.parse(current), "")
  console.error("libs/api/openapi.json is stale; run `node tools/openapi.ts`.")
  for (const difference of found.slice(0, shown)) console.error(difference)
  if (found.length > shown) console.error(`and ${found.length - shown} more`)
  process.exitCode = 1
}

const current = `${JSON.stringify(document(), null, 2)}\n`
await (process.argv.includes("--check") ? check(current) : writeFile(file, current))
