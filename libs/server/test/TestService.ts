/** A service with the routes that a test wants, on a free port, with its log kept. */
import { ConfigProvider, Context, Deferred, Effect, Layer, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { ApiKeyId, type Caller, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { AuthenticationFailed, NotAuthenticated } from "@data-import/api/Refusal"
import { PermissionDenied } from "@data-import/domain/requests/Failure"
import { bodyBytes } from "@data-import/api/Limits"
import * as Answer from "../src/http/Answer.ts"
import type { Authorize } from "../src/auth/Authorization.ts"
import { readJson } from "../testing/ReadJson.ts"
import { request } from "../testing/RawClient.ts"
import { Output } from "../src/observability/Log.ts"
import type { Answered } from "../src/http/Answer.ts"
import type { Call } from "../src/http/IncomingRequest.ts"
import type { Route } from "../src/routing/Route.ts"
import * as Service from "../src/lifecycle/Service.ts"

export interface Started {
  readonly port: number
  readonly metricsPort: number | null
  /** Every line that was logged; complete once the service has stopped. */
  readonly log: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Starts a service that stops with the scope. */
export const start = Effect.fnUntraced(function* (
  serving: Partial<Service.Serving>,
  settings: Readonly<Record<string, string>> = {}
) {
  const log: Array<Readonly<Record<string, unknown>>> = []
  const keep = (lines: string) => {
    for (const line of lines.trimEnd().split("\n")) {
      log.push(JSON.parse(line) as Readonly<Record<string, unknown>>)
    }
  }
  const service = Service.layer("test", Effect.succeed({ routes: [], ...serving })).pipe(
    Layer.provide([
      ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0", ...settings })),
      Layer.succeed(Output, keep)
    ])
  )
  const { metricsPort, port } = Context.get(yield* Layer.build(service), Service.Listening)
  const started: Started = { port, metricsPort, log }
  return started
})

/** A route with this handler. */
export const route = (
  method: Route["method"],
  path: Route["path"],
  run: (call: Call, caller: Caller | undefined) => Answered,
  access: Route["access"] = "public"
): Route => ({ method, path, access, answersJson: true, run })

/** Answers with the body that it was sent, in `body`. */
export const echo = (path: Route["path"], access: Route["access"] = "public"): Route =>
  route(
    "POST",
    path,
    (call, caller) =>
      Effect.map(readJson(call, bodyBytes, caller?.organisation), (body) =>
        Answer.json(200, { body })
      ),
    access
  )

export const ok: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.sync(() =>
  Answer.json(200, { ok: true })
)

/** Knows two tokens, `reader` and `writer`, and what each may do. */
export const authorize: Authorize = (header, scope, requestId) => {
  if (header === undefined) return Effect.fail(new NotAuthenticated())
  const scopes = { "Token reader": ["import:read"], "Token writer": ["import:write"] } as const
  const known = header === "Token reader" || header === "Token writer" ? scopes[header] : undefined
  if (known === undefined) return Effect.fail(new AuthenticationFailed({}))
  if (!known.some((one) => one === scope)) return Effect.fail(new PermissionDenied())
  return Effect.succeed({
    organisation: OrganisationName.make("acme"),
    apiKey: ApiKeyId.make("key_1"),
    scopes: known,
    requestId
  })
}

/** The memory that bodies hold, by the metrics of a service. */
export const heldOn = (metricsPort: number | null) =>
  Effect.map(request(metricsPort as number, { path: "/metrics" }), ({ body }) =>
    Number(/^http_request_body_bytes (\d+)/m.exec(body)?.[1])
  )

/** A handler that waits until it is opened. */
export const waiting = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const wait = () => Effect.as(Deferred.await(gate), Answer.json(200, {}))
  return { open: Deferred.succeed(gate, undefined), wait }
})

const chunk = new Uint8Array(1024 * 1024)

/** An answer of 64 MiB of which little is in memory. */
export const large = HttpServerResponse.stream(
  Stream.fromIterable(Array.from({ length: 64 }, () => chunk))
)
