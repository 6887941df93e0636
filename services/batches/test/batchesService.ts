/** The running batches service on a separate database, with a worker. */
import { gzipSync } from "node:zlib"
import { ConfigProvider, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { resultEncoderOf } from "@data-import/api/LineResultText"
import type { Reply } from "@data-import/api/testing/Client"
import { makeBatchWorker } from "@data-import/domain/batches/BatchWorker"
import * as AccountImport from "@data-import/domain/imports/AccountImport"
import * as PostImport from "@data-import/domain/additions/PostImport"
import * as ImportRevert from "@data-import/domain/imports/ImportRevert"
import { BatchId } from "@data-import/domain/batches/Batch"
import { Batches } from "@data-import/domain/batches/Batches"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import { layerMemory as memoryDocuments } from "@data-import/domain/testing/memory/Documents"
import { layerMemory as memoryHashing } from "@data-import/domain/testing/memory/Hashing"
import { layerMemory as memoryVendor } from "@data-import/domain/testing/memory/PaymentVendor"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { ask, post, running } from "@data-import/server/testing/RunningService"
import type { Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as batches } from "../src/Batches.ts"

const programs = Layer.mergeAll(
  AccountImport.layer,
  PostImport.layer,
  ImportRevert.layer,
  IdempotentWrites.layer
).pipe(
  Layer.provide([
    memoryDocuments(new Map()),
    memoryVendor,
    memoryHashing,
    ConfigProvider.layer(ConfigProvider.fromUnknown({}))
  ])
)

/** The service with these settings on a fresh database, and the programs of a worker. */
export const serviceWith = (settings: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) => {
      const DATABASE_URL = Redacted.value(databaseUsersAt(url).batches)
      return Layer.merge(
        running(batches, { DATABASE_URL, ...settings }),
        Layer.provideMerge(programs, portsBeside(url))
      )
    })
  ).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))

export const service = serviceWith({})

const worker = Effect.gen(function* () {
  const settings = { chunks: 1, linesKeptFor: Duration.days(30), drain: Duration.seconds(1) }
  const programs = {
    accountImport: yield* AccountImport.AccountImport,
    postImport: yield* PostImport.PostImport,
    importRevert: yield* ImportRevert.ImportRevert,
    writes: yield* IdempotentWrites.IdempotentWrites,
    encoderOf: resultEncoderOf
  }
  return makeBatchWorker(yield* Batches, programs, settings)
})

/** Processes everything that is ready. */
export const workAll = Effect.flatMap(worker, ({ workOnce }) =>
  Effect.repeat(workOnce, { while: (worked) => worked })
)

/** Counts the outcome of a rehearsal until it has everything that is committed now. */
export const followAll = Effect.fnUntraced(function* (batch: string) {
  const { counts, follow } = yield* RehearsalOutcomes
  const now = yield* DateTime.now
  const turn = Effect.andThen(follow(Duration.zero), counts(BatchId.make(batch)))
  yield* Effect.repeat(turn, { until: ({ at }) => !DateTime.isLessThan(at, now) })
})

export const root = "/v1/data-import/batches/"

type Owner = Pick<Tenant, "token">
type Headers = Readonly<Record<string, string>>

export const get = ({ token }: Owner, path: string, headers: Headers = {}) =>
  ask({ method: "GET", path, headers: { authorization: `Token ${token}`, ...headers } })

export const createFor = (tenant: Tenant, settings: object = {}, headers: Headers = {}) => {
  const payload = { import_supplier: tenant.supplier.code, operation: "STAGE", ...settings }
  return post(root, tenant.token, { payload }, headers)
}

export const idOf = ({ json }: Reply): string => (json as { batch_id: string }).batch_id

/** Creates a batch, and returns its path. */
export const begin = (tenant: Tenant, settings: object = {}) =>
  Effect.map(createFor(tenant, settings), (reply) => `${root}${idOf(reply)}/`)

export const put = (
  { token }: Owner,
  path: string,
  body: string | Uint8Array,
  headers: Headers = {}
) => {
  const type = { authorization: `Token ${token}`, "content-type": "application/x-ndjson" }
  return ask({ method: "PUT", path, headers: { ...type, ...headers }, body })
}

const textOf = (lines: ReadonlyArray<object | string>): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")

export const upload = (
  tenant: Owner,
  batch: string,
  lines: ReadonlyArray<object | string>,
  { from = 1, isGzip = false } = {}
) => {
  const text = textOf(lines)
  const path = `${batch}lines/?from_line=${from}`
  return isGzip
    ? put(tenant, path, gzipSync(text), { "content-encoding": "gzip" })
    : put(tenant, path, text)
}

export const start = (
  { token }: Owner,
  batch: string,
  total_lines: number,
  headers: Headers = {}
) => post(`${batch}start/`, token, { payload: { total_lines } }, headers)

/** Pauses, resumes or cancels, without a body. */
export const act = ({ token }: Owner, batch: string, action: string, headers: Headers = {}) =>
  ask({
    method: "POST",
    path: `${batch}${action}/`,
    headers: { authorization: `Token ${token}`, ...headers }
  })

export const linesOf = ({ text }: Reply): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
