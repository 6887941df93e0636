/**
 * Tells open pages which suppliers have changed, by Server-Sent Events. All streams of a process
 * share one query a second; without streams there is no query. Changes of the same supplier while a
 * client reads slowly are sent as one.
 * Source: docs/contract/board.md#changes.
 */
import type { ServerResponse } from "node:http"
import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { changesPath } from "@data-import/api/board/BoardApi"
import { type BoardUser, maySee } from "@data-import/domain/access/BoardUser"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import type {
  SupplierChanges,
  SupplierMarker
} from "@data-import/domain/migrations/SupplierChanges"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { unavailable } from "@data-import/domain/requests/Failure"
import { every } from "@data-import/domain/support/Every"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as Listener from "@data-import/server/http/Listener"
import * as RequestId from "@data-import/server/http/RequestId"
import type { Route } from "@data-import/server/routing/Route"
import * as Guard from "./Guard.ts"

/** The time between two queries, and between two events of a stream. */
const pause = Duration.seconds(1)

/** Ticks until a comment is sent instead. A stream silent for a minute is ended as stalled. */
const ticksToComment = 15

/** A stream, and the suppliers that it has not reported yet. */
interface Listening {
  readonly user: BoardUser
  readonly pending: Set<string>
}

export interface Changes {
  readonly route: Route
  /** Looks for changes until it is interrupted. */
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
    for (const { pending: untold, user } of streams) {
      for (const { organisation, supplier } of changed) {
        if (maySee(user, { code: supplier, organisation })) untold.add(wireCode(supplier))
      }
    }
  })

  /** A page that loads data after its stream has opened misses no change. */
  const join = (user: BoardUser): Effect.Effect<Listening, StorageUnavailable> =>
    Effect.gen(function* () {
      if (streams.size === 0) known = markersOf(yield* markers)
      const listening: Listening = { user, pending: new Set() }
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

/**
 * Writes to the stream until the session has ended, or cannot be checked. A client that reads
 * slowly gets fewer events.
 */
const tell = Effect.fnUntraced(function* (
  response: ServerResponse,
  { pending: untold }: Listening,
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

const needs: Guard.Needs = { changes: "anyone", forSuppliers: true }

/** A placeholder: the response was written already. */
const written = HttpServerResponse.empty({ status: 200 })

/** The route of the streams, and the query that all streams of this process share. */
export const make = (
  port: SupplierChanges["Service"],
  premises: Guard.GuardDependencies
): Changes => {
  const { join, leave, watch } = makeWatch(port)

  const stream = Effect.fnUntraced(function* (call: Call) {
    // Opening it does not renew the session: a page reconnects without its user.
    const { session } = yield* premises.admit(Guard.checked(call, needs, premises, false))
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
          const told = tell(response, listening, goesOn)
          return Effect.raceFirst(told, premises.access.ended(session.hash))
        }),
      leave
    )
    yield* call.wait(session.user.subject, telling)
    // Too many requests wait already, or the service is stopping.
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
