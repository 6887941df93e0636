/**
 * Refuses to write over a file that the same command reads. Files are compared by device and inode,
 * so that links and other spellings of a path are recognised.
 */
import { fstatSync, statSync } from "node:fs"
import { Effect } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"

/** A report is written to this file, and renamed at the end. */
export const partOf = (file: string): string => `${file}.part`

/** Null if there is no such file. */
const identityOf = (file: string): string | null => {
  const stat =
    file === "-"
      ? fstatSync(0, { bigint: true })
      : statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat?.isFile() === true ? `${stat.dev}:${stat.ino}` : null
}

const overwrites = (written: string, read: string) =>
  new Refused({ why: `Writing ${written} would destroy ${read}, which this command reads.` })

/** Fails before anything is written if one of the files to write is one of those to read. */
export const refuseOverwriting = Effect.fnUntraced(function* (
  written: ReadonlyArray<string>,
  read: ReadonlyArray<string>
) {
  const identify = (file: string) =>
    Effect.try({
      try: () => identityOf(file),
      catch: (error) => new Refused({ why: `Cannot use ${file}: ${reasonOf(error)}.` })
    })
  const inputs = new Map<string, string>()
  for (const file of read) {
    const identity = yield* identify(file)
    if (identity !== null) inputs.set(identity, file)
  }
  for (const file of written.flatMap((name) => [name, partOf(name)])) {
    const input = inputs.get((yield* identify(file)) ?? "")
    if (input !== undefined) return yield* overwrites(file, input)
  }
})
