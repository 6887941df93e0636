/** Services as layers of this process, each with settings of its own. */
import * as AccountImport from "@data-import/account-import/AccountImport"
import * as Auth from "@data-import/auth/Auth"
import * as BatchWorker from "@data-import/batch-worker/BatchWorker"
import * as Batches from "@data-import/batches/Batches"
import * as Board from "@data-import/board/Board"
import * as Events from "@data-import/events/Events"
import * as Gateway from "@data-import/gateway/Gateway"
import * as PostImport from "@data-import/post-import/PostImport"
import * as Query from "@data-import/query/Query"
import { Listening } from "@data-import/server/lifecycle/Service"
import { Output } from "@data-import/server/observability/Log"
import { ConfigProvider, Context, Effect, Layer } from "effect"
import type { ServiceName } from "./Wiring.ts"

export const serviceLayers = {
  "account-import": AccountImport.layer,
  "post-import": PostImport.layer,
  query: Query.layer,
  batches: Batches.layer,
  "batch-worker": BatchWorker.layer,
  events: Events.layer,
  board: Board.layer,
  auth: Auth.layer,
  gateway: Gateway.layer
} satisfies Readonly<Record<ServiceName, unknown>>

export interface Surroundings {
  readonly settings: ConfigProvider.ConfigProvider
  /** Receives the lines that the service logs. */
  readonly output: (lines: string) => void
}

/** Starts a service, which stops with the scope. */
export const startService = <E>(
  service: Layer.Layer<Listening, E>,
  { output, settings }: Surroundings
) =>
  Layer.build(Layer.fresh(service)).pipe(
    Effect.map((context) => Context.get(context, Listening)),
    Effect.provideService(ConfigProvider.ConfigProvider, settings),
    Effect.provideService(Output, output)
  )
