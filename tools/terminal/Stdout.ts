/** What a process does whose answer cannot be written. */
import { writeSync } from "node:fs"

/** As the shell reports a command that a closed pipe has ended. */
const closedPipeStatus = 141

/** Ends the process: what nobody can read is no answer, whatever the command has done. */
export const endWithoutStdout = (): void => {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    // A reader that closes, like head, has all that it wanted.
    if (code === "EPIPE") process.exit(closedPipeStatus)
    const advice = "What the command did is done; look before you repeat it."
    writeSync(process.stderr.fd, `The answer could not be written: ${message}. ${advice}\n`)
    process.exit(2)
  })
}
