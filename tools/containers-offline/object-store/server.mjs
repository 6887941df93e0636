/**
 * Replaces the object store in its image: the S3 server of the tests, with the same arguments and
 * environment. `posix FOLDER`: the folders in FOLDER are its buckets.
 */
import { readdirSync } from "node:fs"
import { startFauxqs } from "fauxqs"

const [backend, folder] = process.argv.slice(2)
const { VGW_HEALTH: health = "/health", VGW_PORT: address = ":7070" } = process.env
if (backend !== "posix" || folder === undefined || health !== "/health") {
  throw new Error("Only `posix FOLDER` and VGW_HEALTH=/health are known here")
}

const port = Number(address.slice(address.lastIndexOf(":") + 1))
const server = await startFauxqs({ port, logger: false })
for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (entry.isDirectory()) server.createBucket(entry.name)
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void server.stop().then(() => process.exit(0)))
}
