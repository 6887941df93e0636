/**
 * Every setting of every process: an invalid value ends the start with one sentence that names the
 * setting, and an empty value counts as not set. Processes read a setting of the same name by the
 * same code, so the first of them tries all values, and the others that they read it at all.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import * as AccountImport from "@data-import/account-import/AccountImport"
import * as Auth from "@data-import/auth/Auth"
import * as BatchWorker from "@data-import/batch-worker/BatchWorker"
import * as Batches from "@data-import/batches/Batches"
import * as Settings from "@data-import/domain/support/Settings"
import * as Board from "@data-import/board/Board"
import * as Events from "@data-import/events/Events"
import * as Gateway from "@data-import/gateway/Gateway"
import * as PostImport from "@data-import/post-import/PostImport"
import * as Query from "@data-import/query/Query"
import { Output } from "@data-import/server/observability/Log"
import type { Listening } from "@data-import/server/lifecycle/Service"
import { runToEnd } from "./Process.ts"

type Environment = Readonly<Record<string, string>>

/** A setting, and texts that it must not have. */
interface Case {
  readonly name: string
  readonly bad: ReadonlyArray<string>
  /** The process does not start without it. */
  readonly required?: true
  /** The message does not contain its value. */
  readonly secret?: true
}

const integer = (name: string, below: number, above: number): Case => ({
  name,
  bad: [String(below), String(above), "many", "1.5", "1e1"]
})

const duration = (name: string, below: string, above: string): Case => ({
  name,
  bad: [below, above, "Infinity", "soon", "10"]
})

const url = (name: string): Case => ({
  name,
  bad: ["somewhere", "ftp://somewhere", "http://user:pw@somewhere", "http://somewhere/?a=b"]
})

const text = (name: string): Case => ({ name, bad: ["a\nb", "\u007f"] })

const everyService: ReadonlyArray<Case> = [
  integer("PORT", -1, 65_536),
  text("HOST"),
  { name: "LOG_LEVEL", bad: ["loud", "0"] },
  integer("SHUTDOWN_GRACE_SECONDS", -1, 601),
  integer("DRAIN_DELAY_SECONDS", -1, 301),
  integer("MAX_REQUESTS_IN_PROGRESS", 0, 100_001),
  integer("MAX_REQUESTS_PER_ORGANISATION", 0, 100_001),
  integer("MAX_REQUESTS_WAITING", -1, 100_001),
  integer("BODY_MEMORY_MIB", 0, 65_537),
  integer("TRUST_PROXY", -1, 11),
  url("OTEL_EXPORTER_OTLP_ENDPOINT"),
  { name: "METRICS_PORT", bad: ["-1", "65536", "many", "1.5", "on"] },
  { name: "REVISION", bad: ["main", "1f0c4c", "1F0C4C7"] }
]

const badUrls = ["somewhere", "mysql://user:pw@somewhere/db"]

const databaseUrl: Case = { name: "DATABASE_URL", bad: badUrls, required: true, secret: true }

const onDatabase: ReadonlyArray<Case> = [
  databaseUrl,
  integer("DATABASE_POOL_SIZE", 0, 501),
  duration("DATABASE_STATEMENT_TIMEOUT", "99 millis", "51 seconds"),
  duration("DATABASE_CONNECTION_MAX_AGE", "9 seconds", "25 hours")
]

const checkingTokens: ReadonlyArray<Case> = [
  url("JWKS_URL"),
  text("TOKEN_ISSUER"),
  integer("RATE_LIMIT", 0, 1_000_000_001)
]

const onStore: ReadonlyArray<Case> = [
  text("S3_BUCKET"),
  text("S3_REGION"),
  url("S3_ENDPOINT"),
  url("S3_PUBLIC_ENDPOINT"),
  { name: "S3_PATH_STYLE", bad: ["maybe", "2"] }
]

const uploading: ReadonlyArray<Case> = [
  url("DOCUMENTS_UPLOAD_URL"),
  { name: "DOCUMENTS_UPLOAD_KEY", bad: ["short", "ü".repeat(32)], secret: true }
]

const configurationAge = duration("CONFIGURATION_MAX_AGE", "-1 millis", "1001 millis")

const lease = duration("LEASE", "99 millis", "61 minutes")

const ofVendor = (code: string): ReadonlyArray<Case> => [
  url(`PAYMENT_${code}_URL`),
  { name: `PAYMENT_${code}_KEY`, bad: ["two words", "schlüssel"], secret: true },
  duration(`PAYMENT_${code}_TIMEOUT`, "0 seconds", "20001 millis")
]

const ofBatches: ReadonlyArray<Case> = [
  integer("BATCH_MAX_LINES", 0, 1_000_001),
  integer("BATCH_MAX_BYTES", 0, 8 * 1024 ** 3 + 1),
  integer("BATCH_MAX_UNFINISHED", 0, 21),
  integer("BATCH_MAX_UNFINISHED_BYTES", 0, 32 * 1024 ** 3 + 1),
  integer("BATCH_MAX_STORED_BYTES", 0, 128 * 1024 ** 3 + 1)
]

const ofBoard: ReadonlyArray<Case> = [
  {
    name: "BOARD_PUBLIC_URL",
    bad: ["somewhere", "http://somewhere", "https://somewhere/board", "https://user:pw@somewhere"]
  },
  {
    name: "BOARD_OIDC_ISSUER",
    bad: ["somewhere", "http://somewhere", "https://somewhere/?a=b", "https://user:pw@somewhere"]
  },
  text("BOARD_OIDC_CLIENT_ID"),
  { name: "BOARD_OIDC_CLIENT_SECRET", bad: ["two words", "schlüssel"], secret: true },
  text("BOARD_OIDC_SCOPE"),
  text("BOARD_OIDC_ROLE_CLAIM"),
  text("BOARD_OIDC_ORGANISATIONS_CLAIM"),
  text("BOARD_OIDC_SUPPLIERS_CLAIM"),
  duration("BOARD_SESSION_IDLE", "59 seconds", "25 hours"),
  duration("BOARD_SESSION_LENGTH", "59 seconds", "8 days"),
  duration("BOARD_SESSION_PROLONGED", "59 minutes", "25 hours"),
  {
    name: "BOARD_SMTP_URL",
    bad: ["somewhere", "https://somewhere", "smtp://user:pw@somewhere/?a=b", "smtp://x/y"],
    secret: true
  },
  { name: "BOARD_SMTP_FROM", bad: ["somebody", "a@example.com, b@example.com"] },
  { name: "BOARD_WEBHOOKS_PRIVATE", bad: ["yes", "1"] }
]

interface Process {
  readonly layer: Layer.Layer<Listening, unknown>
  readonly cases: ReadonlyArray<Case>
}

const processes: Readonly<Record<string, Process>> = {
  "account-import": {
    layer: AccountImport.layer,
    cases: [
      ...everyService,
      ...onDatabase,
      ...checkingTokens,
      ...onStore,
      ...uploading,
      configurationAge,
      lease,
      integer("CONCURRENCY_LIMIT", -1, 1_000_001)
    ]
  },
  "post-import": {
    layer: PostImport.layer,
    cases: [
      ...everyService,
      ...onDatabase,
      ...checkingTokens,
      ...onStore,
      configurationAge,
      lease,
      ...ofVendor("STRIPE"),
      ...ofVendor("GOCARDLESS")
    ]
  },
  batches: {
    layer: Batches.layer,
    cases: [...everyService, ...onDatabase, ...checkingTokens, lease, ...ofBatches]
  },
  "batch-worker": {
    layer: BatchWorker.layer,
    cases: [
      ...everyService,
      ...onDatabase,
      ...onStore,
      configurationAge,
      lease,
      integer("CONCURRENCY_LIMIT", -1, 1_000_001),
      integer("BATCH_CHUNKS_AT_ONCE", 0, 101),
      integer("BATCH_LINES_KEPT_DAYS", -1, 3651),
      integer("PAYLOADS_KEPT_DAYS", -1, 3651),
      text("CERTIFICATE_KEYS_DIR"),
      { name: "AUDIT_HEADS_EXPORT", bad: ["perhaps"] },
      ...ofVendor("STRIPE"),
      ...ofVendor("GOCARDLESS")
    ]
  },
  events: {
    layer: Events.layer,
    cases: [...everyService, ...onDatabase, ...checkingTokens, integer("EVENTS_KEPT_DAYS", 3, 3651)]
  },
  board: {
    layer: Board.layer,
    cases: [...everyService, ...onDatabase, ...onStore, ...ofBoard]
  },
  query: {
    layer: Query.layer,
    cases: [
      ...everyService,
      ...onDatabase,
      ...checkingTokens,
      ...ofBatches,
      integer("CHECK_ACCOUNTS_A_MINUTE", -1, 100_001)
    ]
  },
  auth: {
    layer: Auth.layer,
    cases: [
      ...everyService,
      ...onDatabase,
      text("TOKEN_ISSUER"),
      { ...text("TOKEN_KEYS_DIR"), required: true },
      duration("TOKEN_KEY_DELAY", "-1 seconds", "25 hours")
    ]
  },
  gateway: {
    layer: Gateway.layer,
    cases: [
      ...everyService,
      ...["ACCOUNT_IMPORT_URL", "QUERY_URL", "AUTH_URL"].map((name): Case => ({
        ...url(name),
        required: true
      })),
      url("POST_IMPORT_URL"),
      url("BATCHES_URL"),
      url("EVENTS_URL"),
      url("BOARD_URL"),
      text("TOKEN_ISSUER"),
      integer("UPSTREAM_TIMEOUT_SECONDS", 0, 56),
      integer("MAX_REQUESTS_PER_ADDRESS", 0, 100_001)
    ]
  }
}

/** Valid settings of every process, except for the store, which the bucket selects. */
const good = (folder: string): Environment => ({
  PORT: "0",
  DATABASE_URL: "postgres://nobody:pw@127.0.0.1:1/nothing",
  JWKS_URL: "http://127.0.0.1:1/jwks.json",
  TOKEN_KEYS_DIR: folder,
  DOCUMENTS_DIR: folder,
  ACCOUNT_IMPORT_URL: "http://127.0.0.1:1",
  QUERY_URL: "http://127.0.0.1:1",
  AUTH_URL: "http://127.0.0.1:1"
})

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-settings-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the process and stops it; what keeps it from starting, or nothing. */
const startOf = async ({ layer }: Process, env: Environment): Promise<string | undefined> => {
  const exit = await Effect.runPromiseExit(
    Effect.scoped(Layer.build(Layer.fresh(layer))).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: { ...env } })
      ),
      Effect.provideService(Output, () => {})
    )
  )
  return Exit.isSuccess(exit) ? undefined : Settings.explained(exit.cause)
}

const tried = new Set<string>()

const table = Object.entries(processes).flatMap(([process, { cases }]) =>
  cases.map((one) => {
    const bad = tried.has(one.name) ? one.bad.slice(0, 1) : one.bad
    tried.add(one.name)
    return [process, one.name, { ...one, bad }] as const
  })
)

describe.each(table)("%s, %s", (process, name, { bad, secret }) => {
  const around = name.startsWith("S3_") ? { S3_BUCKET: "bucket" } : {}
  const start = (value: string) =>
    startOf(processes[process] as Process, { ...good(temporaryFolder()), ...around, [name]: value })

  it.each(bad)("refuses %j", async (value) => {
    const sentence = await start(value)
    const what = secret === true ? "is not valid" : 'is ".*"'
    expect(sentence).toMatch(new RegExp(`^${name} ${what}\\. It must be [^\\n]+\\.$`))
    expect(sentence).not.toContain("pw")
  })
})

describe.each(Object.entries(processes))("%s", (_name, process) => {
  const optional = process.cases.flatMap(({ name, required }) => (required ? [] : [name]))
  const needed = process.cases.flatMap(({ name, required }) => (required ? [[name, name]] : []))
  if (optional.includes("JWKS_URL")) needed.push(["JWKS_URL", "JWKS_FILE"])
  const start = (set: Environment) =>
    startOf(process, {
      ...Object.fromEntries(optional.map((name) => [name, ""])),
      ...good(temporaryFolder()),
      ...set
    })

  it.each([{}, { S3_BUCKET: "bucket" }])(
    "starts without settings that are empty: %j",
    async (set) => {
      expect(await start(set)).toBeUndefined()
    }
  )

  it.each(needed)("does not start with an empty %s", async (name, missing) => {
    expect(await start({ [name]: "" })).toMatch(new RegExp(`^${missing} is not set\\. It must be`))
  })
})

const migrate = async (env: Environment) => {
  const main = join(import.meta.dirname, "..", "..", "..", "libs", "postgres", "src", "main.ts")
  const child: ChildProcess = spawn(process.execPath, [main], { env: { ...env } })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text))
  const status = await new Promise((resolve) => child.once("close", resolve))
  return { status, output }
}

const workers = [
  "ACCOUNT_IMPORT",
  "POST_IMPORT",
  "QUERY",
  "BATCHES",
  "BATCH_WORKER",
  "EVENTS",
  "BOARD",
  "AUTH",
  "OPERATOR"
]
const ofMigrate = ["DATABASE_URL", ...workers.map((worker) => `${worker}_DATABASE_URL`)]

describe("the migration job", { timeout: 60_000 }, () => {
  it.each(["DATABASE_URL", "AUTH_DATABASE_URL"])("refuses a wrong %s in a line", async (name) => {
    const owner = "postgres://nobody:pw@127.0.0.1:1/nothing"
    const { output, status } = await migrate({ DATABASE_URL: owner, [name]: "mysql://a:pw@b/c" })
    expect(status).toBe(1)
    expect(output).toBe(
      `${name} is not valid. It must be a URL like postgres://user:password@host:port/database, ` +
        "its sslmode, if any, one of disable, require, verify-ca, verify-full.\n"
    )
  })

  it("refuses to start without DATABASE_URL", async () => {
    const { output, status } = await migrate({})
    expect(status).toBe(1)
    expect(output).toMatch(/^DATABASE_URL is not set\. It must be [^\n]+\.\n$/)
  })
})

describe("a tool", { timeout: 120_000 }, () => {
  it("the operator command refuses a wrong DATABASE_URL without its password", async () => {
    const env = { DATABASE_URL: "mysql://user:pw@somewhere/db" }
    const { err, out, status } = await runToEnd("operator", ["team", "list"], env)
    expect({ status, out }).toEqual({ status: 2, out: "" })
    expect(err).toContain("DATABASE_URL is not valid. It must be")
    expect(err).not.toContain("pw")
  })
})

describe("the table of settings in docs/operating.md", () => {
  it("has every setting that is tested here, and no other", () => {
    const text = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8")
    const [, section = ""] = /\n## Settings\n([^]*?)\n## /.exec(text) ?? []
    const rows = section.split("\n").filter((line) => line.startsWith("| `"))
    const written = rows.flatMap((row) => {
      const [, cell = ""] = row.split(" | ", 1)[0]?.split("| ") ?? []
      const [first = "", ...rest] = [...cell.matchAll(/`([A-Z0-9_…]+)`/g)].map(
        ([, name = ""]) => name
      )
      return [first, ...rest.filter((name) => !name.startsWith("_") && !name.endsWith("…"))]
    })
    const tested = new Set([...table.map(([, name]) => name), ...ofMigrate, "DATA_DIR"])
    const untested = ["JWKS_FILE", "DOCUMENTS_DIR"]
    expect(written.filter((name) => !tested.has(name) && !untested.includes(name))).toEqual([])
    const mentioned = [...tested].filter((name) => !/^PAYMENT_.*_|_DATABASE_URL$/.test(name))
    expect(mentioned.filter((name) => !written.includes(name))).toEqual([])
  })
})
