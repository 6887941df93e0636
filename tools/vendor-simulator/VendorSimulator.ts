/**
 * A payment vendor to test against: one HTTP server on this machine that answers like every vendor
 * that has an adapter. The reference chooses the answer. With `missing` there is no such
 * instruction, with `inactive` it is inactive, with `down` the vendor answers 503, and with `slow`
 * it never answers. The words of `Fault.ts` choose other faults. Otherwise there is an active
 * instruction of the type that the vendor offers.
 *
 * It is a bare Node server, because many of its faults happen on the socket.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Context, Data, Effect, Layer } from "effect"
import { send, strikeOf } from "./Fault.ts"
import { goCardless } from "./GoCardless.ts"
import { stripe } from "./Stripe.ts"

/** The simulator answers at `url`, the same for every vendor. */
export class VendorSimulator extends Context.Service<VendorSimulator, { readonly url: string }>()(
  "@data-import/vendor-simulator/VendorSimulator"
) {}

/** The port is taken. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly cause: Error }> {}

const vendors = { STRIPE: stripe, GOCARDLESS: goCardless }

const pathOf = (url: string): ReadonlyArray<string> | undefined => {
  try {
    return url.split("?", 1)[0]?.slice(1).split("/").map(decodeURIComponent)
  } catch {
    // A malformed escape: no such path exists.
    return undefined
  }
}

const respond = ({ headers, method, url = "" }: IncomingMessage, response: ServerResponse) => {
  const path = pathOf(url)
  if (path === undefined || method !== "GET") return send(response, 404, {})
  for (const vendor of Object.values(vendors)) {
    const answer = vendor.get(path, headers)
    if (answer === undefined) continue
    const strike = strikeOf(path.at(-1) ?? "")
    return strike === undefined
      ? send(response, answer.status, answer.body)
      : strike(response, vendor)
  }
  return send(response, 404, {})
}

const listen = (port: number) =>
  Effect.callback<Server, NotListening>((resume) => {
    const server = createServer(respond)
    server.once("error", (cause) => resume(Effect.fail(new NotListening({ cause }))))
    server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
  })

const close = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** The simulator on this port of 127.0.0.1, for as long as the layer lives. */
export const layerOn = (port: number): Layer.Layer<VendorSimulator, NotListening> =>
  Layer.effect(
    VendorSimulator,
    Effect.map(Effect.acquireRelease(listen(port), close), (server) => {
      const address = server.address()
      const bound = typeof address === "object" && address !== null ? address.port : port
      return { url: `http://127.0.0.1:${bound}` }
    })
  )

/** The simulator on a free port. */
export const layer: Layer.Layer<VendorSimulator, NotListening> = layerOn(0)

/** The settings with which the payment adapters ask the simulator at `url`. */
export const settingsFor = (url: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(vendors).flatMap((code) => [
      [`PAYMENT_${code}_URL`, url],
      [`PAYMENT_${code}_KEY`, "simulated"]
    ])
  )
