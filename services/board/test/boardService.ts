/** The real board service on a database of its own, and browsers that use it. */
import { type IncomingHttpHeaders, request as open } from "node:http"
import { Duration, Effect, Layer, Redacted } from "effect"
import { BoardAccess, issueLink, layer as access } from "@data-import/domain/access/BoardAccess"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { behindProxy } from "@data-import/postgres/testing/DatabaseProxy"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { Listening } from "@data-import/server/lifecycle/Service"
import { running } from "@data-import/server/testing/RunningService"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as board } from "../src/Board.ts"

/** Begins sessions as the service does, for tests. */
const begunBeside = access({
  idle: Duration.minutes(30),
  absolute: Duration.hours(12),
  prolonged: null
})

type Settings = Readonly<Record<string, string>>

const serviceAt = (url: Redacted.Redacted, settings: Settings) => {
  const DATABASE_URL = Redacted.value(databaseUsersAt(url).board)
  return running(board, { DATABASE_URL, TRUST_PROXY: "1", ...settings })
}

const portsAt = (url: Redacted.Redacted) => begunBeside.pipe(Layer.provideMerge(portsBeside(url)))

const tokens = Layer.merge(tokenMint, tokenSecrets)

/** The service with these settings on a fresh database, and the ports beside it. */
export const serviceWith = (settings: Settings) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) => Layer.merge(serviceAt(url, settings), portsAt(url)))
  ).pipe(Layer.provideMerge(tokens))

/** The service, whose connections to its database a test can cut. */
export const serviceBehindProxy = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    Layer.merge(
      behindProxy(url, (proxied) => serviceAt(proxied, {})),
      portsAt(url)
    )
  )
).pipe(Layer.provideMerge(tokens))

export interface Asked {
  /** Unless given, POST with a body and GET without one. */
  readonly method?: string
  readonly path: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a request as it is. */
const exchange = (url: string, { body, headers, method, path }: Asked) =>
  Effect.callback<Page>((resume) => {
    const { hostname, port } = new URL(url)
    const used = method ?? (body === undefined ? "GET" : "POST")
    const outgoing = open({ hostname, port, path, method: used, headers }, (message) => {
      const chunks: Array<Buffer> = []
      message.on("data", (chunk: Buffer) => chunks.push(chunk))
      message.once("end", () =>
        resume(
          Effect.succeed({
            status: message.statusCode ?? 0,
            headers: message.headers,
            text: Buffer.concat(chunks).toString()
          })
        )
      )
    })
    outgoing.once("error", (cause) => resume(Effect.die(cause)))
    outgoing.end(body ?? (used === "POST" ? "" : undefined))
    return Effect.sync(() => outgoing.destroy())
  })

/** The header that browsers send with requests of a page of the board. */
const fromPage = { "sec-fetch-site": "same-origin" }

export interface Browser {
  readonly cookies: Map<string, string>
  readonly ask: (asked: Asked) => Effect.Effect<Page>
  /** Sends the request as a page of the board would. */
  readonly get: (path: string, headers?: Asked["headers"]) => Effect.Effect<Page>
  readonly post: (path: string, headers?: Asked["headers"], body?: string) => Effect.Effect<Page>
}

/** A client that keeps cookies as browsers do, and sends them to this address only. */
export const browserAt = (url: string): Browser => {
  const cookies = new Map<string, string>()
  const keep = (set: string) => {
    const [pair = "", ...attributes] = set.split("; ")
    const [name = "", value = ""] = pair.split(/=(.*)/s)
    if (attributes.includes("Max-Age=0")) cookies.delete(name)
    else cookies.set(name, value)
  }
  const ask: Browser["ask"] = ({ headers, ...asked }) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const sent = { ...(cookie !== "" && { cookie }), ...headers }
    return Effect.tap(exchange(url, { ...asked, headers: sent }), (page) =>
      Effect.sync(() => (page.headers["set-cookie"] ?? []).forEach(keep))
    )
  }
  return {
    cookies,
    ask,
    get: (path, headers) => ask({ path, headers: { ...fromPage, ...headers } }),
    post: (path, headers, body = "{}") =>
      ask({
        method: "POST",
        path,
        headers: { ...fromPage, "content-type": "application/json", ...headers },
        body
      })
  }
}

export const browser = Effect.map(Listening, ({ url }) => browserAt(url))

/** The path of a new sign-in link. */
export const freshLink = Effect.map(issueLink, (secret) => `/board/sign-in/${secret}/`)

/** A browser that has used a link. */
export const signedIn = Effect.gen(function* () {
  const one = yield* browser
  yield* one.post(yield* freshLink)
  return one
})

export const viewer: BoardUser = {
  subject: "sub|viewer",
  name: "vera",
  role: "viewer",
  organisations: null,
  suppliers: null
}

/** A browser with a session of this user. */
export const browserOf = Effect.fnUntraced(function* (user: BoardUser) {
  const one = yield* browser
  const { begin } = yield* BoardAccess
  one.cookies.set("board", yield* begin(user, RequestId.make("begun")))
  return one
})

interface Session {
  readonly name: string
  readonly role: string
  readonly csrf_token: string
}

export const sessionOf = (one: Browser, headers?: Asked["headers"]): Effect.Effect<Session> =>
  Effect.map(one.get("/board/api/session/", headers), ({ text }) => JSON.parse(text) as Session)

export const codeOf = ({ text }: Page): unknown => (JSON.parse(text) as { code: unknown }).code
