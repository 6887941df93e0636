/**
 * A small file system in memory, mounted on a folder of its own, that can be filled to the last
 * byte and freed again. Mounting needs root; without it, making the disk fails.
 */
import { execFile } from "node:child_process"
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Data, Effect, type Scope } from "effect"

/** No such file system can be mounted here; the message says why. */
export class CannotMount extends Data.TaggedError("CannotMount")<{ readonly message: string }> {}

export interface Disk {
  readonly folder: string
  /** Takes all the room that is left. */
  readonly fill: Effect.Effect<void>
  /** Frees what `fill` has taken. */
  readonly free: Effect.Effect<void>
}

const execute = promisify(execFile)

/** A file system allocates pages, so the last piece must be as small as one page. */
const pieces = [1024 * 1024, 4096].map((bytes) => Buffer.alloc(bytes))

const isFull = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOSPC"

const writeUntilFull = (file: number, piece: Buffer): void => {
  try {
    while (writeSync(file, piece) === piece.length);
  } catch (cause) {
    if (!isFull(cause)) throw cause
  }
}

const mount = async (megabytes: number): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-disk-"))
  try {
    const options = `size=${megabytes}m,mode=755`
    await execute("mount", ["-t", "tmpfs", "-o", options, "data-import-disk", folder])
  } catch (cause) {
    rmdirSync(folder)
    throw cause
  }
  chmodSync(folder, 0o755)
  return folder
}

const unmount = async (folder: string): Promise<void> => {
  // The last process of a killed server may still be about to leave it.
  await execute("umount", ["--lazy", folder])
  rmdirSync(folder)
}

/** The file system, of so many megabytes, until the scope ends. */
export const make = (megabytes: number): Effect.Effect<Disk, CannotMount, Scope.Scope> =>
  Effect.gen(function* () {
    const mounting = Effect.tryPromise({
      try: () => mount(megabytes),
      catch: (cause) => {
        const why = String(cause).trim().split("\n").at(-1)
        return new CannotMount({ message: `no small file system can be mounted here: ${why}` })
      }
    })
    const folder = yield* Effect.acquireRelease(mounting, (it) => Effect.promise(() => unmount(it)))
    const ballast = join(folder, "ballast")
    const fill = Effect.sync(() => {
      const file = openSync(ballast, "a")
      for (const piece of pieces) writeUntilFull(file, piece)
      closeSync(file)
    })
    return { folder, fill, free: Effect.sync(() => rmSync(ballast, { force: true })) }
  })
