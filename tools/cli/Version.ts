/** The version of the command, as its package has it. */
import manifest from "./package.json" with { type: "json" }

export const { version } = manifest
