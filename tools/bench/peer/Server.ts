/**
 * The peer: what a quick and careful engineer would write instead of this project, as a baseline.
 * One Fastify process with Ajv, pg and jose on its own lean tables, with the same durability and
 * the same answers to the measured requests. It checks bodies by the published schemas, the rules
 * between fields and the documents. docs/performance.md says what it leaves out.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import * as AccountImport from "./AccountImport.ts"
import { type Caller, makeAuthorize } from "./Auth.ts"
import type { Context } from "./Context.ts"
import { makeDocuments } from "./Documents.ts"
import * as PostImport from "./PostImport.ts"
import { Refusal } from "./Refusal.ts"
import { makeSetup } from "./Setup.ts"
import { activeKey } from "./Statements.ts"
import { connect, run } from "./Storage.ts"
import { tables } from "./Tables.ts"

export interface Settings {
  readonly databaseUrl: string
  readonly jwksFile: string
  readonly connections: number
  readonly logLevel: string
  readonly documents: string
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null
  }
}

const base = "/v1/data-import"
const bodyBytes = 10 * 1024 * 1024
const saneId = /^[A-Za-z0-9._-]{1,128}$/

/** The codes for Fastify's own refusals. */
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
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id)
    done()
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

type Authorize = ReturnType<typeof makeAuthorize>

/** The scope that a route requires, and how its answer is written. */
const makeScoped =
  (authorize: Authorize) =>
  (scope: string, response: object = {}) => ({
    onRequest: (request: FastifyRequest, _: unknown, done: (error?: Error) => void) => {
      const settle = (caller: Caller) => {
        request.caller = caller
        done()
      }
      try {
        const caller = authorize(request.headers.authorization, scope)
        if (caller instanceof Promise) caller.then(settle, done)
        else settle(caller)
      } catch (cause) {
        done(cause as Error)
      }
    },
    schema: { response }
  })

type Scoped = ReturnType<typeof makeScoped>
type ContextOf = (request: Pick<FastifyRequest, "caller" | "id">) => Context

const addStatus = (app: FastifyInstance, scoped: Scoped, contextOf: ContextOf): void => {
  app.get<{ Params: { readonly supplier: string; readonly number: string } }>(
    `${base}/account-transfer-status/:supplier/:number/`,
    scoped("import:read", { 200: status }),
    (request) => {
      const { number, supplier } = request.params
      return AccountImport.status(contextOf(request), supplier, number)
    }
  )
}

const addChanges = (app: FastifyInstance, scoped: Scoped, contextOf: ContextOf): void => {
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
    const results = await PostImport.addTransactions(contextOf(request), request.body)
    return reply.code(201).send({ results })
  })
}

/** The server, which does not listen yet; it closes the pool when it is closed. */
export const makeServer = (settings: Settings): FastifyInstance => {
  const pool = connect(settings.databaseUrl, settings.connections)
  const setup = makeSetup(pool, 1_000)
  const documents = makeDocuments(settings.documents)
  const isActive = async (apiKey: string) => (await run(pool, activeKey, [apiKey])).length > 0
  const authorize = makeAuthorize(settings.jwksFile, isActive)
  const app = prepare(settings)
  app.addHook("onReady", async () => void (await pool.query(tables)))
  app.addHook("onClose", () => pool.end())

  const contextOf: ContextOf = (request) => ({
    pool,
    setup,
    documents,
    at: new Date(),
    caller: request.caller as Caller,
    requestId: request.id
  })

  const scoped = makeScoped(authorize)
  addChanges(app, scoped, contextOf)
  addStatus(app, scoped, contextOf)
  return app
}
