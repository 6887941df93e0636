/** Writes a file atomically: if the process ends, it has its whole content or its old one. */
import { open, rename, rm } from "node:fs/promises"
import { Effect } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"

const write = async (file: string, text: string): Promise<void> => {
  const draft = `${file}.part`
  try {
    const handle = await open(draft, "w")
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

export const writeWholeFile = (file: string, text: string): Effect.Effect<void, Refused> =>
  Effect.tryPromise({
    try: () => write(file, text),
    catch: (error) => new Refused({ why: `Cannot write ${file}: ${reasonOf(error)}.` })
  })
