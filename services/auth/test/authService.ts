/** The running auth service, over HTTP on a free port, with its stores in memory. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, DateTime, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { recordCoverage } from "@data-import/api/testing/ContractCoverage"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { layerMemory as apiKeys } from "@data-import/domain/testing/memory/ApiKeys"
import { layerMemory as configuration } from "@data-import/domain/testing/memory/Configuration"
import * as ServiceToken from "@data-import/domain/access/ServiceToken"
import { Output } from "@data-import/server/observability/Log"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenKeys from "@data-import/server/auth/TokenKeys"
import * as TokenSigner from "@data-import/server/auth/TokenSigner"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import { routes } from "../src/Handlers.ts"

export const noon = DateTime.makeUnsafe("2026-03-01T12:00:00Z")
export const acme = OrganisationName.make("acme")

/** The folder of the keys, and every line that was logged. */
export class Premises extends Context.Service<
  Premises,
  { readonly keysFolder: string; readonly log: Array<string> }
>()("test/Premises") {
  static readonly layer = Layer.effect(
    Premises,
    Effect.acquireRelease(
      Effect.sync(() => ({
        keysFolder: mkdtempSync(join(tmpdir(), "auth-service-")),
        log: []
      })),
      ({ keysFolder }) => Effect.sync(() => rmSync(keysFolder, { recursive: true }))
    )
  )
}

const settings = (values: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(Premises, ({ keysFolder }) =>
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          PORT: "0",
          TRUST_PROXY: "1",
          TOKEN_KEYS_DIR: keysFolder,
          ...values
        })
      )
    )
  )

const output = Layer.effect(
  Output,
  Effect.map(
    Premises,
    ({ log }) =>
      (lines: string) =>
        void log.push(lines)
  )
)

const serving = Effect.map(routes, (routes) => ({ routes }))

/** The service with these settings; `program` issues the tokens. */
export const serviceWith = (
  values: Readonly<Record<string, string>>,
  program: Layer.Layer<
    ServiceToken.ServiceToken,
    never,
    Layer.Services<typeof ServiceToken.layer>
  > = ServiceToken.layer
) =>
  Service.layer("auth", serving).pipe(
    Layer.provide(program),
    Layer.provideMerge(Layer.mergeAll(apiKeys, configuration, TokenSecrets.layer)),
    Layer.provideMerge(TokenSigner.layer),
    Layer.provideMerge(TokenKeys.layer),
    Layer.provide([settings(values), output]),
    Layer.provideMerge(Premises.layer)
  )

/** Runs a test at noon against the service, with the organisation acme set up. */
export const withService =
  (service: ReturnType<typeof serviceWith> = serviceWith({})) =>
  <A, E>(test: Effect.Effect<A, E, Layer.Success<typeof service>>) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noon.epochMilliseconds)
      yield* Effect.flatMap(Configuration, (setup) => setup.createOrganisation(acme, noon))
      return yield* test
    }).pipe(Effect.provide(service))

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a request as it is. */
export const send = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const { url } = yield* Service.Listening
  return yield* Effect.promise(async (): Promise<Reply> => {
    const response = await fetch(url + path, { redirect: "manual", ...init })
    const { headers, status } = response
    const text = await response.text()
    // A refusal of GraphQL is a 200, and counts as seen on the wire.
    if (status === 200) recordCoverage({ method: init.method ?? "GET", path }, { status, text })
    return { status, headers, text }
  })
})

/** Posts a body to the GraphQL endpoint, from this client address. */
export const post = (body: unknown, address = "192.0.2.1") =>
  send("/v1/graphql/", {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify(body)
  })

const mutation = `mutation Obtain($input: ObtainServiceTokenInput!) {
  obtainServiceToken(input: $input) { token refreshToken refreshExpiresIn payload }
}`

/** Requests a token with any input. */
export const ask = (input: unknown, address?: string) =>
  post({ query: mutation, variables: { input } }, address)

const Answered = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({
      obtainServiceToken: Schema.Struct({
        token: Schema.String,
        refreshToken: Schema.String,
        refreshExpiresIn: Schema.Int,
        payload: Schema.Record(Schema.String, Schema.Json)
      })
    })
  })
)
const decodeAnswered = Schema.decodeUnknownEffect(Answered, { onExcessProperty: "error" })

/** The tokens of an answer that must hold them and nothing else. */
export const obtain = (input: unknown, address?: string) =>
  ask(input, address).pipe(
    Effect.flatMap(({ text }) => decodeAnswered(text)),
    Effect.map(({ data }) => data.obtainServiceToken)
  )

const Refused = Schema.fromJsonString(
  Schema.Struct({
    errors: Schema.NonEmptyArray(
      Schema.Struct({
        message: Schema.String,
        extensions: Schema.Struct({
          errorType: Schema.String,
          errorCode: Schema.String,
          errorDescription: Schema.String
        })
      })
    )
  })
)

/** The `errorCode` of a refusal, which must be a whole GraphQL error with status 200. */
export const errorCode = ({ status, text }: Reply): string => {
  const [{ extensions }] = Schema.decodeUnknownSync(Refused)(text).errors
  return status === 200 ? extensions.errorCode : `${extensions.errorCode} with status ${status}`
}
export const refusal = (input: unknown, address?: string) =>
  Effect.map(ask(input, address), errorCode)
