/** A database that goes away and comes back, seen through the service. */
import { connect, createServer, type Server, type Socket } from "node:net"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  ask,
  faultsOf,
  process,
  rows,
  serviceOn,
  stage,
  stagedImport,
  validate
} from "./importService.ts"
import { isInProgress, until, whileNothingCreates } from "./standstill.ts"

/** The line between the service and its database. */
class Line extends Context.Service<
  Line,
  {
    /** Ends what is connected, and refuses what wants to. */
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
  }
>()("test/Line") {}

const listening = (server: Server, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

/** Forwards a port of its own to the server at `target`. */
const lineTo = (target: URL) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const open = new Set<Socket>()
      const server = createServer((near) => {
        const far = connect({ host: target.hostname, port: Number(target.port) })
        for (const [one, other] of [
          [near, far],
          [far, near]
        ] as const) {
          open.add(one)
          one.on("error", () => one.destroy())
          one.on("close", () => {
            open.delete(one)
            other.destroy()
          })
          one.pipe(other)
        }
      })
      const port = await listening(server, 0)
      const cut = () => {
        const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
        for (const socket of open) socket.destroy()
        return closed
      }
      return {
        port,
        cut: Effect.promise(cut),
        mend: Effect.promise(() => listening(server, port)).pipe(Effect.asVoid)
      }
    }),
    ({ cut }) => cut
  )

const serviceOnLine = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshUrl
    const near = new URL(Redacted.value(url))
    const { cut, mend, port } = yield* lineTo(new URL(near))
    near.port = String(port)
    const settings = { DATABASE_URL: near.href, LEASE: "300 millis" }
    return Layer.merge(serviceOn(url, settings), Layer.succeed(Line, { cut, mend }))
  })
)

/** The database is away while the effect runs. */
const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Line, ({ cut, mend }) =>
    Effect.acquireUseRelease(
      cut,
      () => effect,
      () => mend
    )
  )

/** Far more than a refusal takes, and far less than any time-out on the way. */
const quickly = "1500 millis"

const accountsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ number: string }>`
    select number from accounts join import_processes using (id)
    where supplier = ${supplier.code}`
  )

layer(serviceOnLine, { excludeTestServices: true })("without its database", (it) => {
  describe("the service", () => {
    it.effect("refuses at once, for the moment, and works as soon as it is back", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const other = accountOf(tenant.keyOf("other"))
        const requests = [
          validate(tenant, other),
          stage(tenant, other),
          process(tenant, key),
          process(tenant, key, { dry_run: true }),
          ask({ path: "/health/ready" })
        ]
        yield* away(
          Effect.forEach(requests, (request) =>
            Effect.gen(function* () {
              const reply = yield* Effect.timeout(request, quickly)
              expect(reply.status).toBe(503)
              expect(reply.headers["retry-after"]).toBe("1")
              expect(reply.json).toStrictEqual({
                code: "service_unavailable",
                detail: expect.any(String)
              })
            })
          ).pipe(
            Effect.andThen(ask({ path: "/health/live" })),
            Effect.tap(({ status }) => Effect.sync(() => expect(status).toBe(200)))
          )
        )
        expect((yield* stage(tenant, other)).status).toBe(201)
        expect((yield* process(tenant, key)).status).toBe(201)
        const audited = yield* rows(
          (sql) => sql<object>`
          select action, outcome from audit_log
          where import_supplier = ${tenant.supplier.code} order by id`
        )
        expect(audited).toEqual([
          { action: "stage", outcome: "created" },
          { action: "stage", outcome: "created" },
          { action: "process", outcome: "created" }
        ])
      })
    )

    it.effect("says of a token it has never seen neither yes nor no", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        const refused = yield* away(Effect.timeout(stage(tenant, account), quickly))
        expect(refused.status).toBe(503)
        const forged = { ...tenant, token: `${tenant.token}x` }
        const known = yield* away(Effect.timeout(stage(forged, account), quickly))
        expect(known.status).toBe(401)
        expect((yield* stage(tenant, account)).status).toBe(201)
      })
    )

    it.effect("still says what is wrong with a body that nobody has to look up", () =>
      Effect.gen(function* () {
        const { tenant } = yield* stagedImport()
        const { token } = tenant
        const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
        const malformed = ask({ path: "/v1/data-import/validate-account/", headers, body: "{" })
        expect(faultsOf(yield* away(malformed))).toEqual(["parse_error"])
      })
    )
  })

  describe("an account that was being made", () => {
    it.effect("is made once in the end, by whoever asks again", () =>
      Effect.gen(function* () {
        const { cut, mend } = yield* Line
        const { key, tenant } = yield* stagedImport()
        const interrupted = yield* whileNothingCreates(
          Effect.gen(function* () {
            const asking = yield* Effect.forkChild(process(tenant, key))
            yield* until(isInProgress(key), (held) => held)
            yield* cut
            return yield* Fiber.join(asking).pipe(Effect.timeout(quickly), Effect.ensuring(mend))
          })
        )
        expect(interrupted.status).toBe(503)
        const last = yield* until(
          process(tenant, key),
          (reply) => faultsOf(reply)[0] !== "account_import_process_in_progress"
        )
        const { kraken_account_number: number } = last.json as Record<string, string>
        expect(yield* accountsOf(tenant)).toEqual([{ number }])
      })
    )
  })
})

describe("a service that starts", () => {
  const gone = new URL("postgres://nobody@127.0.0.1:9/nothing")
  layer(Layer.unwrap(Effect.map(freshUrl, (url) => serviceOn(url, { DATABASE_URL: gone.href }))), {
    excludeTestServices: true
  })((it) => {
    it.effect("while its database is away answers that it is", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const reply = yield* Effect.timeout(stage(tenant, accountOf(tenant.keyOf("1"))), quickly)
        expect(reply.status).toBe(503)
        expect((yield* ask({ path: "/health/ready" })).status).toBe(503)
        expect((yield* ask({ path: "/health/live" })).status).toBe(200)
      })
    )
  })
})
