/**
 * Tells open pages which suppliers have changed, by Server-Sent Events. All streams of a process
 * share one look at the database a second, and none is taken while nobody listens. What has changed
 * while a client was slow is told once.
 * Source: docs/contract/board.md#changes.
 */
import type { ServerResponse } from "node:http"
import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { changesPath } from "@data-import/api/board/BoardApi"
import { type BoardUser, maySee } from "@data-import/domain/organisation/BoardUser"
import { wireCode } from "@data-import/domain/organisation/Supplier"
import type { SupplierChanges, SupplierMarker } from "@data-import/domain/ports/SupplierChanges"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { unavailable } from "@data-import/domain/requests/Failure"
import { every } from "@data-import/domain/support/Every"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as Listener from "@data-import/server/http/Listener"
import * as RequestId from "@data-import/server/http/RequestId"
import type { Route } from "@data-import/server/routing/Route"
import * as Guard from "./Guard.ts"

/** Between two looks, and between two events of a stream. */
const pause = Duration.seconds(1)

/** Events or comments: a stream without either for a minute would be ended as stalled. */
const ticksToComment = 15

/** A stream, and what it has not told yet. */
interface Listening {
  readonly user: BoardUser
  readonly untold: Set<string>
}

export interface Changes {
  readonly route: Route
  /** Looks for changes, for as long as it runs. */
  readonly watch: Effect.Effect<never>
}

type Markers = ReadonlyMap<string, string>

const markersOf = (found: ReadonlyArray<SupplierMarker>): Markers =>
  new Map(found.map(({ marker, supplier }) => [supplier, marker]))

/** What the streams of a process share. */
const makeWatch = ({ markers }: SupplierChanges["Service"]) => {
  const streams = new Set<Listening>()
  let known: Markers = new Map()

  const look = Effect.gen(function* () {
    const found = yield* markers
    const changed = found.filter(({ marker, supplier }) => known.get(supplier) !== marker)
    known = markersOf(found)
    for (const { untold, user } of streams) {
      for (const { organisation, supplier } of changed) {
        if (maySee(user, organisation)) untold.add(wireCode(supplier))
      }
    }
  })

  /** What a page loads once its stream is open is not older than what the stream has seen. */
  const join = (user: BoardUser): Effect.Effect<Listening, StorageUnavailable> =>
    Effect.gen(function* () {
      if (streams.size === 0) known = markersOf(yield* markers)
      const listening: Listening = { user, untold: new Set() }
      streams.add(listening)
      return listening
    })

  return {
    join,
    leave: (listening: Listening) => Effect.sync(() => void streams.delete(listening)),
    watch: every(
      pause,
      "the look for changes met an error",
      Effect.suspend(() => (streams.size > 0 ? look : Effect.void))
    )
  }
}

const headers = (requestId: string) => ({
  "cache-control": "no-store",
  "content-type": "text/event-stream",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
  [RequestId.header]: requestId
})

const eventOf = (untold: Set<string>): string => {
  const data = JSON.stringify({ import_suppliers: [...untold].toSorted() })
  untold.clear()
  return `event: changed\ndata: ${data}\n\n`
}

/** Until the session ends, or nobody knows whether it has; whoever reads the stream slowly is told less often. */
const tell = Effect.fnUntraced(function* (
  response: ServerResponse,
  { untold }: Listening,
  goesOn: Effect.Effect<boolean>
) {
  let silent = 0
  for (let tick = 1; ; tick++) {
    yield* Effect.sleep(pause)
    if (tick % ticksToComment === 0 && !(yield* goesOn)) return
    silent++
    if (response.writableNeedDrain) continue
    if (untold.size > 0) response.write(eventOf(untold))
    else if (silent >= ticksToComment) response.write(":\n\n")
    else continue
    silent = 0
  }
})

/** A placeholder: the answer was written already. */
const written = HttpServerResponse.empty({ status: 200 })

/** The stream, and the look that it shares with the others of this process. */
export const make = (port: SupplierChanges["Service"], premises: Guard.Premises): Changes => {
  const { join, leave, watch } = makeWatch(port)

  const stream = Effect.fnUntraced(function* (call: Call) {
    // A page opens its stream by itself, and again whenever it was cut.
    const { session } = yield* premises.admit(Guard.checked(call, "anyone", premises, false))
    const response = Listener.response(call.request)
    const goesOn = Effect.catchTag(premises.access.goesOn(session.hash), "StorageUnavailable", () =>
      Effect.succeed(false)
    )
    const telling = Effect.acquireUseRelease(
      join(session.user),
      (listening) =>
        Effect.suspend(() => {
          response.writeHead(200, headers(call.requestId))
          response.write(":\n\n")
          return tell(response, listening, goesOn)
        }),
      leave
    )
    yield* call.wait(session.user.subject, telling)
    // Too many wait already, or the service stops.
    if (!response.headersSent) return yield* unavailable
    response.end()
    return written
  })

  const route: Route = {
    method: "GET",
    path: changesPath,
    access: "public",
    answersJson: false,
    run: stream
  }
  return { route, watch }
}
