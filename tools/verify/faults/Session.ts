/** A client of the gateway that has its token already, for scenarios that send single requests. */
import { Effect } from "effect"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import { openSession, type Session as OpenSession } from "@data-import/testbed/Tokens"

export type Session = OpenSession

/** A session of the tenant at the gateway, with at most this many connections. */
export const open = Effect.fnUntraced(function* ({ apiKey }: Tenant, connections: number) {
  const { port } = yield* System
  return yield* openSession(port, apiKey, connections)
})
