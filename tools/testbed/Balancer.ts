/**
 * One address for several instances, like a Service of Kubernetes: each connection goes to an
 * instance that was ready when it was last asked.
 */
import { Duration, Effect, Schedule } from "effect"
import * as TcpProxy from "@data-import/postgres/testing/TcpProxy"
import * as Health from "./Health.ts"

const between = Schedule.spaced(Duration.millis(500))

/** The port of such an address, until the scope ends. */
export const make = Effect.fnUntraced(function* (
  instances: ReadonlyArray<{ readonly port: number }>
) {
  const ports = instances.map(({ port }) => port)
  const ready = new Set(ports)
  let turn = 0
  const target = () => {
    const candidates = ready.size > 0 ? [...ready] : ports
    return candidates[turn++ % candidates.length] ?? 0
  }
  const ask = (port: number) =>
    Effect.map(Health.isReady(port), (isReady) =>
      isReady ? void ready.add(port) : void ready.delete(port)
    )
  yield* Effect.forEach(ports, (port) => Effect.forkScoped(Effect.repeat(ask(port), between)))
  const proxy = yield* TcpProxy.make({ target })
  return proxy.port
})
