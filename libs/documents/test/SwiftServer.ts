/** OpenStack Swift with its S3 interface, if Debian's package of it is installed. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Debian's own: another Python on the PATH would not see Debian's packages. */
const python = "/usr/bin/python3"

export const isInstalled =
  spawnSync(python, ["-c", "import swift.common.middleware.s3api"]).status === 0

/** The command that installs it. */
export const installation = "apt-get install --no-install-recommends python3-swift"

export interface SwiftServer {
  readonly endpoint: string
  readonly stop: () => Promise<void>
}

/** Starts a server that knows only this key; resolves when it answers. */
export const start = async (accessKey: string, secret: string): Promise<SwiftServer> => {
  const folder = mkdtempSync(join(tmpdir(), "swift-"))
  const script = join(import.meta.dirname, "swift_server.py")
  const server = spawn(python, [script, folder, accessKey, secret])
  const closed = once(server, "close")
  const errors: Array<string> = []
  server.stderr.on("data", (chunk) => errors.push(String(chunk)))
  const stop = async () => {
    server.stdin.end()
    await closed
    rmSync(folder, { recursive: true })
  }
  const address = once(server.stdout, "data").then(([line]) => String(line).trim())
  const endpoint = await Promise.race([address, closed.then(() => null)])
  if (endpoint !== null) return { endpoint, stop }
  await stop()
  throw new Error(`Swift did not start: ${errors.join("")}`)
}
