/** The worker as a separate process: it starts, works, and finishes its lines on SIGTERM. */
import { spawn } from "node:child_process"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, layer } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Exit, Layer, Option, Redacted, Stream } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Batches } from "@data-import/domain/batches/Batches"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { callerOf, freshOrganisation, supplierOf } from "@data-import/domain/testing/freshNames"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"

const program = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** A document store that has every document, and answers when the test lets it. */
const store = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const held: Array<ServerResponse> = []
  let isHolding = true
  const answer = (response: ServerResponse) =>
    void response.writeHead(200, { "content-length": "1000" }).end()
  const server = createServer((_request, response) => {
    Deferred.doneUnsafe(asked, Exit.void)
    if (isHolding) held.push(response)
    else answer(response)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const release = Effect.sync(() => {
    isHolding = false
    held.forEach(answer)
  })
  const { port } = server.address() as AddressInfo
  return { asked: Deferred.await(asked), release, endpoint: `http://127.0.0.1:${port}` }
})

/** A started batch of one line, which has documents to look up. */
const startedBatch = Effect.gen(function* () {
  const configuration = yield* Configuration
  const batches = yield* Batches
  const { name: organisation } = yield* freshOrganisation
  const supplier = { ...supplierOf(organisation), documentCheck: true }
  yield* configuration.createSupplier(supplier)
  const scopes = ["import:write"] as const
  const { key } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  const caller = { ...callerOf(organisation), apiKey: key.id }
  const at = yield* DateTime.now
  const id = Batch.BatchId.make(crypto.randomUUID())
  const settings = {
    ...Batch.defaultSettings,
    supplier: supplier.code,
    operation: "VALIDATE"
  } as const
  yield* batches.create({ id, settings, limit: 20, caller, at })
  const line = JSON.stringify({ ...domesticPayload(), import_supplier: supplier.code })
  const lines = [{ bytes: Buffer.from(line), externalAccountNumber: null }]
  const upload = yield* batches.beginUpload(id)
  yield* batches.append({ id, apiKey: key.id, upload, from: 1, lines, at })
  const decide = (batch: Batch.Batch) => Batch.start(batch, 1, { at, apiKey: key.id })
  yield* batches.change({ id, decide, action: "start_batch", caller, at })
  return { id, organisation }
})

/** The worker as it is deployed, and the first line of its log, when it listens. */
const launch = (settings: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const env = { ...process.env, PORT: "0", DRAIN_DELAY_SECONDS: "0", ...settings }
      const child = spawn(process.execPath, [program], {
        env,
        stdio: ["ignore", "pipe", "inherit"]
      })
      const exit = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const lines = createInterface({ input: child.stdout })
      const line = await new Promise<string>((resolve) => lines.once("line", resolve))
      const { message, service, url } = JSON.parse(line) as Readonly<Record<string, string>>
      return { child, exit: Effect.promise(() => exit), message, service, url: url ?? "" }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** The URL with which the worker connects to the database. */
class WorkerUrl extends Context.Service<WorkerUrl, string>()("test/WorkerUrl") {}

const world = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    Layer.mergeAll(
      portsBeside(url),
      Layer.succeed(WorkerUrl, Redacted.value(databaseUsersAt(url)["batch-worker"]))
    )
  )
).pipe(Layer.provideMerge(tokenSecrets))

layer(world, { excludeTestServices: true })("a worker", (it) => {
  it.effect("is ready, and finishes its lines on SIGTERM before it exits with 0", () =>
    Effect.gen(function* () {
      const { asked, endpoint, release } = yield* store
      const { child, exit, message, service, url } = yield* launch({
        DATABASE_URL: yield* WorkerUrl,
        S3_BUCKET: "documents",
        S3_ENDPOINT: endpoint,
        AWS_ACCESS_KEY_ID: "key",
        AWS_SECRET_ACCESS_KEY: "secret"
      })
      expect([service, message]).toEqual(["batch-worker", "listening"])
      const statusOf = (path: string) =>
        Effect.promise(async () => (await fetch(`${url}${path}`)).status)
      expect(yield* statusOf("/health/ready")).toBe(200)
      expect(yield* statusOf("/v1/data-import/batches/")).toBe(404)

      const { id, organisation } = yield* startedBatch
      yield* asked
      child.kill("SIGTERM")
      yield* Effect.sleep("300 millis")
      expect(child.exitCode, "it waits for the line").toBeNull()
      const waiting = yield* startedBatch
      yield* release
      expect(yield* exit).toBe(0)

      const batches = yield* Batches
      const { finishedAt } = Option.getOrThrow(yield* batches.find(organisation, id))
      expect(finishedAt).not.toBeNull()
      const all = { afterLine: 0, outcome: null, limit: null, includesLater: false }
      const { results } = yield* batches.results({ id, ...all })
      const lines = (yield* Stream.runCollect(results)).map(
        ({ text }) => JSON.parse(text) as unknown
      )
      expect(lines).toMatchObject([{ line: 1, outcome: "SUCCEEDED", status: 200 }])
      const other = Option.getOrThrow(yield* batches.find(waiting.organisation, waiting.id))
      expect(other.isTaken, "no other line is taken").toBe(false)
    })
  )
})
