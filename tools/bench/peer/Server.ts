/**
 * The peer: what a careful engineer would write instead of this project, to measure it against. One
 * Fastify process with Ajv, pg and jose on the same tables, with the same durability and the same
 * answers to the requests that are measured. It checks bodies by the published schemas and the
 * rules between fields. It leaves out what no measured request needs, which can only make it
 * faster: normalisation of texts, exact number spelling, limits, document checks, dry runs, longer
 * leases, moving transactions, an audit log of refusals, metrics and traces.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import * as AccountImport from "./AccountImport.ts"
import { type Caller, makeAuthorize } from "./Auth.ts"
import * as ImportQuery from "./ImportQuery.ts"
import { addTransactions } from "./PostImport.ts"
import { Refusal } from "./Refusal.ts"
import { activeKey } from "./Statements.ts"
import { connect, type Context, run } from "./Storage.ts"

export interface Settings {
  readonly databaseUrl: string
  readonly jwksFile: string
  readonly connections: number
  readonly logLevel: string
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null
  }
}

const base = "/v1/data-import"
const bodyBytes = 10 * 1024 * 1024
const saneId = /^[A-Za-z0-9._-]{1,128}$/

/** The codes for what Fastify refuses by itself. */
const ownCodes: Readonly<Record<number, string>> = {
  400: "parse_error",
  404: "not_found",
  413: "payload_too_large",
  415: "unsupported_media_type"
}

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const { statusCode = 500 } = error as { readonly statusCode?: number }
  const code = ownCodes[statusCode]
  return code === undefined ? new Refusal(500, "error") : new Refusal(statusCode, code)
}

const prepare = (settings: Settings): FastifyInstance => {
  const app = Fastify({
    bodyLimit: bodyBytes,
    disableRequestLogging: true,
    genReqId: ({ headers }) => {
      const sent = headers["x-request-id"]
      return typeof sent === "string" && saneId.test(sent) ? sent : crypto.randomUUID()
    },
    logger: { level: settings.logLevel }
  })
  app.decorateRequest("caller", null)
  app.addHook("onSend", async (request, reply) => {
    reply.header("x-request-id", request.id)
    reply.header("cache-control", "no-store")
    reply.header("x-content-type-options", "nosniff")
  })
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request
    const answered = { status: reply.statusCode, duration_ms: reply.elapsedTime }
    request.log.info({ method, route: routeOptions.url, ...answered }, "answered")
  })
  app.setErrorHandler(async (error, request, reply) => {
    const { body, code, status } = refusalOf(error)
    if (status === 500) request.log.error({ error }, "failed")
    return reply.code(status).send({ detail: `Refused: ${code}.`, code, ...body })
  })
  app.setNotFoundHandler(async () => {
    throw new Refusal(404, "not_found")
  })
  return app
}

const text = { type: "string" }
const answer = (...names: ReadonlyArray<string>) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, text]))
})

const key = answer("import_supplier", "external_account_number")
const created = answer("kraken_account_number")
const status = answer("status", "kraken_account_number")

/** The server, which does not listen yet; it closes the pool when it is closed. */
export const makeServer = (settings: Settings): FastifyInstance => {
  const pool = connect(settings.databaseUrl, settings.connections)
  const isActive = async (apiKey: string) => (await run(pool, activeKey, [apiKey])).length > 0
  const authorize = makeAuthorize(settings.jwksFile, isActive)
  const app = prepare(settings)
  app.addHook("onClose", () => pool.end())

  const scoped = (scope: string, response: object = {}) => ({
    onRequest: async (request: FastifyRequest) => {
      request.caller = await authorize(request.headers.authorization, scope)
    },
    schema: { response }
  })
  const contextOf = (request: Pick<FastifyRequest, "caller" | "id">): Context => ({
    pool,
    at: new Date(),
    caller: request.caller as Caller,
    requestId: request.id
  })

  app.post(`${base}/validate-account/`, scoped("import:read"), (request) =>
    AccountImport.validate(contextOf(request), request.body)
  )
  app.post(
    `${base}/account-import-process/create-or-update/`,
    scoped("import:write", { 200: key, 201: key }),
    async (request, reply) => {
      const staged = await AccountImport.stage(contextOf(request), request.body)
      return reply.code(staged.first ? 201 : 200).send(staged.key)
    }
  )
  app.post(
    `${base}/account-import-process/process/`,
    scoped("import:write", { 201: created }),
    async (request, reply) => {
      const number = await AccountImport.process(contextOf(request), request.body)
      return reply.code(201).send({ kraken_account_number: number })
    }
  )
  app.post(`${base}/transactions/create/`, scoped("import:write"), async (request, reply) => {
    const results = await addTransactions(contextOf(request), request.body)
    return reply.code(201).send({ results })
  })
  app.get<{ Params: { readonly supplier: string; readonly number: string } }>(
    `${base}/account-transfer-status/:supplier/:number/`,
    scoped("import:read", { 200: status }),
    (request) => {
      const { number, supplier } = request.params
      return ImportQuery.status(contextOf(request), supplier, number)
    }
  )
  app.get<{ Params: { readonly supplier: string } }>(
    `${base}/all-account-import-processes/:supplier/`,
    scoped("import:read"),
    async (request, reply) => {
      const entries = await ImportQuery.list(contextOf(request), request.params.supplier)
      return reply.type("application/json").send(entries)
    }
  )
  return app
}
