/**
 * An object storage that has every document, and answers or stays silent as a test decides. It
 * counts the waiting requests.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer } from "effect"
import { signAs } from "./Bucket.ts"

export class SlowStore extends Context.Service<
  SlowStore,
  {
    /** The settings with which a service reaches it. */
    readonly settings: Readonly<Record<string, string>>
    readonly keepSilent: (silent: boolean) => void
    /** How many requests are open. */
    readonly waiting: () => number
  }
>()("@data-import/documents/testing/SlowStore") {}

const make = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly service: SlowStore["Service"]; readonly stop: () => void }>(
        (resolve) => {
          let isSilent = false
          let waiting = 0
          const server = createServer((_request, response) => {
            waiting++
            response.once("close", () => waiting--)
            if (!isSilent) response.writeHead(200, { "content-length": "1000" }).end()
          })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            const endpoint = `http://127.0.0.1:${port}`
            const keepSilent = (silent: boolean) => {
              isSilent = silent
            }
            resolve({
              service: {
                settings: { S3_BUCKET: "documents", S3_ENDPOINT: endpoint },
                keepSilent,
                waiting: () => waiting
              },
              stop: () => {
                server.close()
                server.closeAllConnections()
              }
            })
          })
        }
      )
  ),
  ({ stop }) => Effect.sync(stop)
)

/** Also sets the credentials of this process, where the standard chain of the AWS tools looks. */
export const layer = Layer.effect(
  SlowStore,
  Effect.gen(function* () {
    signAs("key", "secret")
    return SlowStore.of((yield* make).service)
  })
)
