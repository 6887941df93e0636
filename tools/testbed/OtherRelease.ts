/**
 * Another release of this repository, checked out into a separate folder, so that its services run
 * beside ours. It is the one that `OTHER_RELEASE` names, or else the last tag, or else, while there
 * is no tag, the commit before the newest migration.
 */
import { execFile } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { promisify } from "node:util"
import { type Config, Data, Effect, Option, type Scope } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"

/** There is no other release here; the message says why. */
export class NoOtherRelease extends Data.TaggedError("NoOtherRelease")<{
  readonly message: string
}> {}

export interface OtherRelease {
  /** As git describes it. */
  readonly name: string
  /** The root of its files. */
  readonly root: string
}

const execute = promisify(execFile)
const root = join(import.meta.dirname, "..", "..")

const git = (...args: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: async () => (await execute("git", ["-C", root, ...args])).stdout.trim(),
    catch: (cause) => new NoOtherRelease({ message: `git ${args[0]}: ${String(cause)}` })
  })

/** The commit of the main line before the newest migration came. */
const beforeNewestMigration = Effect.gen(function* () {
  const folder = "libs/postgres/migrations"
  const newest = readdirSync(join(root, folder)).toSorted().at(-1) ?? ""
  const added = yield* git(
    ...["log", "--first-parent", "--diff-merges=first-parent", "--diff-filter=A"],
    ...["--no-patch", "--format=%H", "-1", "--", `${folder}/${newest}`]
  )
  // An uncommitted migration is newer than every committed one.
  return added === "" ? "HEAD" : `${added}~1`
})

const chosen = Effect.gen(function* () {
  const given = yield* Effect.orDie(Settings.text("OTHER_RELEASE").optional)
  if (Option.isSome(given)) return given.value
  const tag = yield* git("describe", "--tags", "--abbrev=0").pipe(Effect.option)
  return Option.isSome(tag) ? tag.value : yield* beforeNewestMigration
})

/** The installed third-party packages, with their places. */
const installedOf = (folder: string): ReadonlySet<string> => {
  const lock: unknown = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"))
  const { packages } = lock as { readonly packages: Record<string, { integrity?: string }> }
  return new Set(
    Object.entries(packages)
      .filter(([place]) => place.startsWith("node_modules/"))
      .flatMap(([place, { integrity }]) => (integrity === undefined ? [] : `${place} ${integrity}`))
  )
}

/** Links third-party packages to those of this release; packages of the workspace are its own. */
const linkPackages = (folder: string): void => {
  const ours = realpathSync(join(root, "node_modules"))
  const modules = join(folder, "node_modules")
  const workspace = join(modules, "@data-import")
  mkdirSync(workspace, { recursive: true })
  for (const name of readdirSync(ours)) {
    if (name !== "@data-import") symlinkSync(join(ours, name), join(modules, name))
  }
  for (const kind of ["libs", "services", "tools"]) {
    for (const part of readdirSync(join(folder, kind))) {
      const manifest = join(folder, kind, part, "package.json")
      if (!existsSync(manifest)) continue
      const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly name: string }
      const place = join(modules, name)
      mkdirSync(dirname(place), { recursive: true })
      symlinkSync(relative(dirname(place), dirname(manifest)), place)
    }
  }
}

const install = (folder: string) =>
  Effect.tryPromise({
    try: () => execute("npm", ["ci", "--prefer-offline", "--ignore-scripts"], { cwd: folder }),
    catch: (cause) => new NoOtherRelease({ message: `npm ci: ${String(cause)}` })
  })

/** Its files until the scope ends. */
export const checkedOut: Effect.Effect<
  OtherRelease,
  NoOtherRelease | Config.ConfigError,
  Scope.Scope
> = Effect.gen(function* () {
  const ref = yield* chosen
  const name = yield* git("describe", "--tags", "--always", ref)
  const folder = yield* temporaryFolder()
  const archive = join(folder, "release.tar")
  yield* git("archive", "--format=tar", `--output=${archive}`, ref)
  const unpacked = join(folder, "release")
  mkdirSync(unpacked)
  yield* Effect.promise(() => execute("tar", ["-xf", archive, "-C", unpacked]))
  // Nothing is downloaded if everything that it needs is installed here.
  if (installedOf(unpacked).isSubsetOf(installedOf(root))) linkPackages(unpacked)
  else yield* install(unpacked)
  return { name, root: unpacked }
})
