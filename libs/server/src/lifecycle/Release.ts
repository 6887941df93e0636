/**
 * Which release a process runs: the version of the packages, and the revision that it was built
 * from, if the build states it.
 */
import { Config, Option } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import manifest from "../../package.json" with { type: "json" }

const revision = Settings.setting("REVISION", {
  allowed: "the hash of a git commit, of 7 to 64 hexadecimal digits",
  parse: (text) => (/^[0-9a-f]{7,64}$/.test(text) ? text : undefined)
})

/** A semantic version: `0.1.0`, or `0.1.0+1f0c4c7`. */
export const version: Config.Config<string> = Config.map(revision.optional, (built) =>
  Option.isNone(built) ? manifest.version : `${manifest.version}+${built.value}`
)
