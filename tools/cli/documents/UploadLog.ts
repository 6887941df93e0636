/**
 * Records which documents were uploaded, and their hashes, so that the same command continues and
 * notices changed files. A line is appended for each file after the store has acknowledged it. A
 * last line that was cut by a kill counts as missing.
 */
import { createHash } from "node:crypto"
import { appendFile, mkdir, readFile } from "node:fs/promises"
import { Effect, Option, Path, Redacted, Schema } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { type Profile, userFolder } from "../connection/Profiles.ts"
import { reasonOf } from "../Reason.ts"

const Entry = Schema.Struct({ document_path: Schema.String, sha256: Schema.String })
const decode = Schema.decodeOption(Schema.fromJsonString(Entry))

export interface UploadLog {
  /** The hash of the document uploaded to a path; undefined if there is none. */
  readonly sha256Of: (document_path: string) => string | undefined
  readonly add: (document_path: string, sha256: string) => Effect.Effect<void, Refused>
}

const attempt = <A>(file: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new Refused({ why: `Cannot use ${file}: ${reasonOf(error)}.` })
  })

const readIfThere = async (file: string): Promise<string> => {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return ""
    throw error
  }
}

/**
 * The log of a supplier at a deployment. Each API key has its own: the test key and the live key of
 * an organisation have other stores.
 */
export const openLog = Effect.fnUntraced(function* (profile: Profile, supplier: string) {
  const path = yield* Path.Path
  const folder = path.join(yield* userFolder("XDG_STATE_HOME", ".local/state"), "documents")
  const { apiKey, baseUrl } = profile
  const named = JSON.stringify([baseUrl, Redacted.value(apiKey), supplier])
  const identity = createHash("sha256").update(named)
  const file = path.join(folder, `${identity.digest("hex").slice(0, 32)}.ndjson`)
  yield* attempt(file, () => mkdir(folder, { recursive: true, mode: 0o700 }))
  const text = yield* attempt(file, () => readIfThere(file))
  const entries = text.split("\n").flatMap((line) => Option.toArray(decode(line)))
  const present = new Map(entries.map(({ document_path, sha256 }) => [document_path, sha256]))
  const log: UploadLog = {
    sha256Of: (document_path) => present.get(document_path),
    add: (document_path, sha256) =>
      attempt(file, async () => {
        // Begins with a line end, in case the last line was cut.
        const entry = `\n${JSON.stringify({ document_path, sha256 })}\n`
        await appendFile(file, entry, { mode: 0o600, flush: true })
      })
  }
  return log
})
