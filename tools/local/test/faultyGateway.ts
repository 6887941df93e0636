/**
 * An HTTP proxy before the gateway that misbehaves as a test says, one request at a time: it
 * answers by itself, loses an answer that the service has given, or breaks off in the middle.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A request as the proxy has seen it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
}

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

export type Fault =
  /** The proxy answers; the service does not see the request. */
  | { readonly _tag: "Answer"; readonly answer: Answer }
  /** The service answers, and the connection breaks after so many bytes of its body. */
  | { readonly _tag: "CutAnswer"; readonly after: number }
  /** The connection breaks after so many bytes of the request's body. */
  | { readonly _tag: "CutRequest"; readonly after: number }
  /** The proxy changes the body of the answer. */
  | { readonly _tag: "Alter"; readonly change: (body: string) => string }

/** What to do to a request; undefined for nothing. */
export type Plan = (seen: Seen) => Fault | undefined

const answerWith = (response: ServerResponse, { body, headers = {}, status }: Answer): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(body)
}

/** Cuts a stream of bytes: breaks the connection after so many of them. */
const cutter = (after: number, cut: () => void) => {
  let left = after
  return (chunk: Buffer): Buffer => {
    const passed = chunk.subarray(0, left)
    left -= passed.length
    if (left === 0) setImmediate(cut)
    return passed
  }
}

const pass = (chunk: Buffer): Buffer => chunk

const relay = (
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  fault?: Fault
) => {
  const { headers, method, url = "/" } = incoming
  const break_ = () => {
    incoming.socket.destroy()
    outgoing.destroy()
  }
  const outgoing = request(new URL(url, target), { method, headers }, (answered) => {
    if (fault?._tag === "Alter") {
      const chunks: Array<Buffer> = []
      answered.on("data", (chunk: Buffer) => chunks.push(chunk))
      answered.on("end", () => {
        const { "content-length": _, ...kept } = answered.headers
        response.writeHead(answered.statusCode ?? 0, kept)
        response.end(fault.change(Buffer.concat(chunks).toString()))
      })
      return
    }
    const part = fault?._tag === "CutAnswer" ? cutter(fault.after, break_) : pass
    response.writeHead(answered.statusCode ?? 0, answered.headers)
    answered.on("data", (chunk: Buffer) => response.write(part(chunk)))
    answered.on("end", () => fault?._tag !== "CutAnswer" && response.end())
    answered.on("error", break_)
  })
  outgoing.on("error", break_)
  const part = fault?._tag === "CutRequest" ? cutter(fault.after, break_) : pass
  incoming.on("data", (chunk: Buffer) => outgoing.write(part(chunk)))
  incoming.on("end", () => outgoing.end())
  incoming.on("error", break_)
}

/** A proxy to the gateway. It ends with the scope. */
export const faultyGateway = (target: string, plan: Plan) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly seen: Array<Seen>; readonly end: () => void }>(
      (resume) => {
        const seen: Array<Seen> = []
        const server = createServer((incoming, response) => {
          const { headers, method = "", url = "" } = incoming
          const one = { method, path: url, headers }
          seen.push(one)
          const fault = plan(one)
          response.on("error", () => incoming.socket.destroy())
          if (fault?._tag === "Answer") {
            incoming.resume()
            answerWith(response, fault.answer)
          } else relay(target, incoming, response, fault)
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const end = () => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, seen, end }))
        })
      }
    ),
    ({ end }) => Effect.sync(end)
  )

/** Does this to the first request that fits, and nothing to the others. */
export const once = (fits: (seen: Seen) => boolean, fault: Fault): Plan => {
  let isDone = false
  return (seen) => {
    if (isDone || !fits(seen)) return undefined
    isDone = true
    return fault
  }
}
