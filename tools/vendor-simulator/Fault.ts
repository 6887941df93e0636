/**
 * Faults of a vendor, each chosen by a word in the reference. Except for `down` and `slow`, the
 * words begin with `fault_`, so that no ordinary reference contains one by chance.
 */
import type { ServerResponse } from "node:http"
import type { SimulatedVendor } from "./Resource.ts"

type Strike = (response: ServerResponse, vendor: SimulatedVendor) => void

/** Answers with JSON. */
export const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

const refuse =
  (status: number): Strike =>
  (response, vendor) =>
    send(response, status, vendor.refusal(status).body)

const text =
  (body: string): Strike =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(body)
  }

/** Announces a longer body than it sends, and ends the connection. */
const truncate: Strike = (response) => {
  const body = '{"object":"payment_method","mandates":{'
  response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 })
  response.write(body, () => response.socket?.destroy())
}

/** An endless string, for as long as the client reads. */
const flood: Strike = (response) => {
  const chunk = "x".repeat(65_536)
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.writeHead(200, { "content-type": "application/json" })
  response.on("drain", pour).write('{"object":"')
  pour()
}

/** Redirects to an active instruction, which a client must not follow. */
const redirect: Strike = (response) => {
  const asked = response.req.url ?? ""
  response.writeHead(302, { location: asked.replace(/[^/]*$/, "elsewhere") })
  response.end()
}

const strikes: ReadonlyArray<readonly [word: string, strike: Strike]> = [
  ["down", refuse(503)],
  ["slow", () => {}],
  ["fault_unauthorized", refuse(401)],
  ["fault_forbidden", refuse(403)],
  ["fault_refused", refuse(422)],
  ["fault_redirect", redirect],
  ["fault_429", refuse(429)],
  ["fault_500", refuse(500)],
  ["fault_reset", (response) => response.socket?.resetAndDestroy()],
  ["fault_garbage", text("<html>Bad gateway</html>")],
  ["fault_unexpected", text('{"object":"list","data":[]}')],
  ["fault_cut", text('{"object":"payment_method","mandates":{')],
  ["fault_truncated", truncate],
  ["fault_huge", flood]
]

/** The fault that the reference chooses, if any. */
export const strikeOf = (reference: string): Strike | undefined =>
  strikes.find(([word]) => reference.includes(word))?.[1]
