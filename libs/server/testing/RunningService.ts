/**
 * A running service, on a free port and with the settings of a deployment, and the functions by
 * which a test sends requests. Every answer is checked against the published OpenAPI document.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ConfigProvider, Context, Effect, Layer, Schedule } from "effect"
import { type Reply, type Request, send } from "@data-import/api/testing/Client"
import { Output } from "../src/observability/Log.ts"
import { Listening } from "../src/lifecycle/Service.ts"
import { bytesOf, open } from "./RawClient.ts"
import type { Tenant } from "./Tenant.ts"
import { TokenIssuer } from "./TokenIssuer.ts"

/** The environment of the service. */
export class Premises extends Context.Service<
  Premises,
  {
    /** The folder that stands for the bucket. */
    readonly documents: string
    /** Every line that was logged. */
    readonly log: ReadonlyArray<string>
  }
>()("@data-import/server/testing/Premises") {}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-documents-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/**
 * The service with an empty document store, the tokens, and these settings besides. Tests
 * that configure a supplier see the change at once.
 */
export const running = <E, R>(
  service: Layer.Layer<Listening, E, R>,
  settings: Readonly<Record<string, string>>
): Layer.Layer<Listening | Premises, never, TokenIssuer | R> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { jwksFile } = yield* TokenIssuer
      const documents = yield* temporaryFolder
      const log: Array<string> = []
      const provider = ConfigProvider.fromUnknown({
        PORT: "0",
        JWKS_FILE: jwksFile,
        DOCUMENTS_DIR: documents,
        CONFIGURATION_MAX_AGE: "0 millis",
        ...settings
      })
      return service.pipe(
        Layer.provide([
          ConfigProvider.layer(provider),
          Layer.succeed(Output, (lines) => void log.push(lines))
        ]),
        Layer.orDie,
        Layer.merge(Layer.succeed(Premises, { documents, log }))
      )
    })
  )

/** Sends a request as it is. */
export const ask = (request: Request) => Effect.flatMap(Listening, ({ url }) => send(url, request))

export const jsonHeaders = (token: string): Readonly<Record<string, string>> => ({
  authorization: `Token ${token}`,
  "content-type": "application/json"
})

/** Posts a body, text or bytes as they are and anything else as JSON, with further headers. */
export const post = (
  path: string,
  token: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
) =>
  ask({
    path,
    headers: { ...jsonHeaders(token), ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  })

/**
 * Sends a POST up to this part of its body, and leaves the connection open until the scope ends or
 * the test drops it.
 */
export const beginPost = Effect.fnUntraced(function* (
  { token }: Pick<Tenant, "token">,
  path: string,
  requestId: string,
  body: unknown,
  part = 1,
  further: Readonly<Record<string, string>> = {}
) {
  const { port } = yield* Listening
  const connection = yield* open(port)
  const headers = { ...jsonHeaders(token), "x-request-id": requestId, ...further }
  const text = JSON.stringify(body)
  const bytes = bytesOf({ method: "POST", path, headers, body: text })
  const missing = Math.ceil(Buffer.byteLength(text) * (1 - part))
  connection.send(bytes.subarray(0, bytes.length - missing))
  return connection
})

/** Repeats the request until the answer holds; only the test's timeout ends it. */
export const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.repeat(ask, { until: holds, schedule: Schedule.spaced("5 millis") })

/** Sends a request again while the service says that it is to be sent again later. */
export const persistently = <E, R>(request: Effect.Effect<Reply, E, R>) =>
  until(request, ({ status }) => status !== 503)

/** Waits until the service has logged the request; returns everything that was logged. */
export const untilLogged = (requestId: string) =>
  Effect.flatMap(Premises, ({ log }) =>
    until(
      Effect.sync(() => log.join("")),
      (text) => text.includes(requestId)
    )
  )

/** The errors in an answer: the code at the top, then each path with its code. */
export const errorsOf = ({ json }: Reply): ReadonlyArray<string> => {
  const { code, errors = [] } = json as {
    readonly code: string
    readonly errors?: ReadonlyArray<{ readonly attr: string; readonly code: string }>
  }
  return [code, ...errors.map((error) => `${error.attr}: ${error.code}`)]
}

/** Puts a document where the supplier's documents are. */
export const putDocument = Effect.fnUntraced(function* ({ supplier }: Tenant, path: string) {
  const { documents } = yield* Premises
  const file = join(documents, supplier.documentRoot, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `content of ${path}`)
})
