#!/usr/bin/env node
/**
 * The command as it is installed. It is written for any Node, so that an older one can say that it
 * is too old, and loads the command only then.
 */
"use strict"

const version = process.versions.node.split(".").map(Number)

if (version[0] < 22 || (version[0] === 22 && version[1] < 19)) {
  process.stderr.write(
    `data-import needs Node.js 22.19 or newer, and this is ${process.version}.\n`
  )
  process.exitCode = 2
} else {
  void import("./main.js")
}
