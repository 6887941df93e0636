/** A proxy before the gateway that records every exchange, for clients of any kind. */
import { createServer, request as open, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"
import { Effect } from "effect"
import type { Transcript } from "./Transcript.ts"

const bytesOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const textOf = (bytes: Buffer, encoding: string | undefined): string =>
  (encoding === "gzip" ? gunzipSync(bytes) : bytes).toString()

const forwarded = (
  incoming: IncomingMessage,
  body: Buffer,
  target: URL
): Promise<{ readonly answer: IncomingMessage; readonly bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    const { headers, method, url } = incoming
    const outgoing = open(
      { host: target.hostname, port: target.port, method, path: url, headers, agent: false },
      (answer) => void bytesOf(answer).then((bytes) => resolve({ answer, bytes }), reject)
    )
    outgoing.once("error", reject).end(body)
  })

/** Where to send requests to `target` that are recorded in the transcript that is current then. */
export const recorder = Effect.fnUntraced(function* (
  target: URL,
  current: () => Transcript | undefined
) {
  const server = createServer((incoming, response) => {
    void (async () => {
      const body = await bytesOf(incoming)
      const { answer, bytes } = await forwarded(incoming, body, target)
      const { "accept-encoding": _, ...headers } = answer.headers
      current()?.add({
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        body: textOf(body, incoming.headers["content-encoding"]),
        status: answer.statusCode ?? 0,
        headers: headers as Record<string, string>,
        answer: textOf(bytes, answer.headers["content-encoding"])
      })
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders).end(bytes)
    })().catch((error: unknown) => response.destroy(error as Error))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
