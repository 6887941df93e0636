/**
 * Says what to do if Node is too old. It is separate and in plain JavaScript because an older Node
 * must be able to run it: everything else here is TypeScript that only Node 24 runs as it is.
 */
const wanted = 24
const [major = 0] = process.versions.node.split(".").map(Number)

if (major < wanted) {
  console.error(
    [
      `Node ${wanted} or newer is needed; this is ${process.version} at ${process.execPath}.`,
      "On Linux `npm ci` brings its own and npm scripts find it: run `npm ci`, then start this with",
      `npm again. On macOS and elsewhere install Node ${wanted} and put it first in PATH.`
    ].join("\n")
  )
  process.exit(1)
}
