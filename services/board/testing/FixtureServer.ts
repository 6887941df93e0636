/**
 * Serves the built web part with fixed answers of the API, so that its pages can be looked at in
 * every state without a system behind them: `node services/board/testing/serve.ts`. It has the
 * Content-Security-Policy of the service.
 */
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { extname, join } from "node:path"
import { alerts } from "./sampleAlerts.ts"
import * as Accounts from "./sampleAccount.ts"
import * as Certificates from "./sampleCertificates.ts"
import type { BoardRole } from "@data-import/domain/access/BoardUser"
import { comments } from "./sampleComments.ts"
import { invitations } from "./sampleInvitations.ts"
import * as Lists from "./sampleLists.ts"
import * as Samples from "./sampleMigrations.ts"
import { programme } from "./sampleProgramme.ts"
import { controlTotals } from "./sampleTotals.ts"
import { wave } from "./sampleWave.ts"
import { waves } from "./sampleWaves.ts"

export interface Fixture {
  readonly role: BoardRole
  /** No migration at all. */
  readonly isEmpty: boolean
  /** All of them, instead of what they are. */
  readonly status?: "Ongoing" | "Paused" | "Complete"
  /** Whether the sign-off has no certificate. */
  readonly isUncertified?: boolean
  /** Whether the certificate that is being computed is issued. */
  readonly isCertified?: boolean
  /** Imports of each list. */
  readonly imports: number
  /** Answers, by a pattern of their paths, that are refused with a status. */
  readonly refused: ReadonlyArray<readonly [RegExp, number]>
}

export const standard: Fixture = { role: "manager", isEmpty: false, imports: 412, refused: [] }

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; " +
  "form-action 'self'; frame-ancestors 'none'"

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml"
}

interface Posted {
  readonly path: string
  readonly body: unknown
}

export interface FixtureServer {
  fixture: Fixture
  readonly origin: string
  /** The actions that were sent. */
  readonly posted: Array<Posted>
  /** How many pages listen to changes. */
  readonly listening: () => number
  /** Tells the open pages that a supplier has changed. */
  readonly change: (supplier: string) => void
  readonly close: () => Promise<void>
}

/** What the role `supplier` sees. */
const ofSupplier = "DELTA_LEGACY"

const closedToSupplier = /^(audit|alerts|teams)|(comments|invitations|go-no-go|moves\/.*)\/$/

const session = ({ role }: Fixture, now: number) => ({
  name: "Maria Keller",
  role,
  organisations: role === "supplier" ? [] : null,
  import_suppliers: role === "supplier" ? [ofSupplier] : null,
  csrf_token: "csrf",
  idle_until: Samples.instant(now + 1_800_000),
  is_prolonged: false,
  prolongs_by: role === "supplier" ? null : 43_200,
  ends_at: Samples.instant(now + 36_000_000)
})

const ofMigration = (name: string, rest: string, query: URLSearchParams, fixture: Fixture) => {
  const now = Date.now()
  const found = Samples.migrations(now).find(({ import_supplier }) => import_supplier === name)
  if (found === undefined) return undefined
  const migration = { ...found, status: fixture.status ?? found.status }
  const account = /^imports\/([^/]+)\/$/.exec(rest)?.[1]
  if (account !== undefined) {
    const body = Accounts.account(name, decodeURIComponent(account), now)
    if (fixture.role !== "supplier") return body
    const reverted = body.reverted.map((each) => ({ ...each, reverted_by: null, reason: null }))
    return { ...body, reverted, moves: [], audit: [], audit_seal: null }
  }
  const batch = /^batches\/([^/]+)\/$/.exec(rest)?.[1]
  if (batch !== undefined) {
    const body = Samples.batch(batch, now)
    if (fixture.role !== "supplier" || !body?.revert) return body
    return { ...body, revert: { ...body.revert, reason: null } }
  }
  const ofBatch = /^batches\/([^/]+)\/lines\/$/.exec(rest)?.[1]
  if (ofBatch !== undefined) return Lists.lines(ofBatch, query, now)
  const ofRehearsal = /^batches\/([^/]+)\/outcome\/$/.exec(rest)?.[1]
  if (ofRehearsal !== undefined) return Lists.outcomeLines(ofRehearsal, now)
  const isManager = fixture.role === "manager"
  const { isCertified = false } = fixture
  const certified = (cohort: string | null) =>
    Certificates.certificates(name, { cohort, isManager, isCertified }, now)
  const certificate = /^certificates\/([^/]+)\/$/.exec(rest)?.[1]
  if (certificate !== undefined) {
    const { certificates } = certified(null)
    return certificates.find(({ certificate_id }) => certificate_id === certificate)
  }
  const step = query.get("step") === "day" ? "day" : "hour"
  const parts: Readonly<Record<string, () => unknown>> = {
    "": () => Samples.detail(migration, now),
    "history/": () => Samples.history(migration, now, step),
    [`moves/${Accounts.moveId}/`]: () => Accounts.move(now),
    "comments/": () => comments(query, (hours) => Samples.instant(now - hours * 3_600_000)),
    "invitations/": () => ({
      invitations: invitations((hours) => Samples.instant(now - hours * 3_600_000))
    }),
    "cohorts/": () => Samples.cohorts(migration),
    "control-totals/": () => ({ totals: controlTotals(migration, now), whole_is_sum: false }),
    "batches/": () => Samples.batches(now),
    "certificates/": () => certified(query.get("cohort")),
    "forecasts/": () => Lists.forecasts(now),
    "problems/": () => Samples.problems(migration),
    "imports/": () => Accounts.imports(fixture.imports, query.get("after"), now),
    "undo/": () => Samples.undoPreview(now, query.get("with_additions") === "true"),
    "go-no-go/": () => wave(migration, query.get("cohort") ?? "", now),
    "waves/": () => waves(migration, now),
    "sign-off/": () => ({
      open: [
        { what: "FAILED", count: 412 },
        { what: "LINES_FAILED", count: 96 }
      ],
      certificate: fixture.isUncertified === true ? null : Certificates.attached(name, now),
      signed: null
    })
  }
  return parts[rest]?.()
}

const answerTo = (path: string, query: URLSearchParams, fixture: Fixture): unknown => {
  const now = Date.now()
  if (path === "session/") return session(fixture, now)
  if (path === "teams/") return { teams: ["Migration Team", "Night Team"] }
  if (path === "alerts/") return alerts(now)
  if (path === "programme/") return programme(query.get("organisation"), now)
  if (path === "audit/") return Accounts.audit(now)
  if (path === "migrations/") {
    const all = fixture.isEmpty ? [] : Samples.migrations(now)
    const isSeen = ({ import_supplier }: { readonly import_supplier: string }) =>
      fixture.role !== "supplier" || import_supplier === ofSupplier
    return { at: Samples.instant(now), migrations: all.filter(isSeen) }
  }
  const [, name = "", rest = ""] = /^migrations\/([^/]+)\/(.*)$/.exec(path) ?? []
  return ofMigration(decodeURIComponent(name), rest, query, fixture)
}

interface Selected {
  readonly state?: "PENDING" | "FAILED"
  readonly code?: string
  readonly cohort?: string | null
  readonly numbers?: ReadonlyArray<string>
}

/** Counts what the pages count, where they do. */
const preview = (path: string, selection: Selected, { imports }: Fixture) => {
  const { code, cohort, numbers, state } = selection
  const now = Date.now()
  const found = Samples.migrations(now).find(({ import_supplier }) =>
    path.includes(import_supplier)
  )
  const ofCohort = found && Samples.cohorts(found).cohorts.find((each) => each.cohort === cohort)
  const states = cohort === undefined ? found?.states : ofCohort?.states
  const byCode = found && Samples.detail(found, now).codes.find((each) => each.code === code)
  const both = (states?.PENDING ?? 0) + (states?.FAILED ?? 0)
  const ofStates = state === undefined ? both : states?.[state]
  const ofCode = cohort === undefined ? byCode?.imports : imports
  return {
    accounts: numbers?.length ?? (code === undefined ? ofStates : ofCode) ?? 0,
    business_day: "2026-11-30",
    running: [
      {
        batch_id: "00000000-0000-4000-8000-000000000001",
        name: "wave 2, north",
        by: "board:Maria Keller",
        lines_remaining: 7_000
      }
    ],
    failed_by_day:
      state === "FAILED" ? { accounts: 3, codes: ["max_value"] } : { accounts: 0, codes: [] }
  }
}

/** What an action answers. */
const done = (path: string, posted: ReadonlyArray<Posted>): unknown => {
  if (path.endsWith("reveal/")) return Accounts.revealed
  if (path.endsWith(`${Accounts.moveId}/undo/`)) return { changed: 412, next_after: null }
  if (path.endsWith("cohort/")) {
    const isFirst = posted.filter((each) => each.path === path).length === 1
    return isFirst ? { changed: 400, next_after: "NL-0000400" } : { changed: 12, next_after: null }
  }
  if (path.endsWith("plan/")) return { points: [] }
  if (path === "alerts/") return alerts(Date.now())
  if (path === "alerts/test/") return { sent: false, answer: "The server answered 404." }
  if (path.endsWith("certificates/")) return { certificate_id: Certificates.later }
  if (path.endsWith("invitations/")) {
    const url = "https://board.example/board/sign-in/invitation/the-secret/"
    return { url, expires_at: Samples.instant(Date.now() + 604_800_000) }
  }
  if (path.endsWith("document-links/")) {
    return { url: "/board/document", expires_at: Samples.instant(Date.now() + 300_000) }
  }
  return { batch_id: "00000000-0000-4000-8000-000000000009", lines: 412, status: "Paused" }
}

const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
  response.end(JSON.stringify(body))
}

const wrongFields = {
  code: "request_failed_validation",
  detail: "The request breaks 2 rules; see errors.",
  errors: ["The first is wrong.", "So is the second."].map((detail) => ({
    attr: "points",
    code: "invalid",
    detail
  }))
}

const refusal = (status: number) =>
  status === 400 ? wrongFields : { code: "permission_denied", detail: `Refused with ${status}.` }

const file = (response: ServerResponse, folder: string, path: string) => {
  const type = types[extname(path)]
  const name = type === undefined ? "index.html" : path
  response.writeHead(200, {
    "content-type": type ?? "text/html",
    "content-security-policy": policy
  })
  response.end(readFileSync(join(folder, name)))
}

const read = async (request: IncomingMessage): Promise<unknown> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text || "{}")
}

/** Starts it with the web part of the folder, on a free port or on the given one. */
export const serve = async (folder: string, port = 0): Promise<FixtureServer> => {
  const streams = new Set<ServerResponse>()
  const posted: Array<Posted> = []
  const state = { fixture: standard }

  const api = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const path = url.pathname.slice("/board/api/".length)
    const status = state.fixture.refused.find(([pattern]) => pattern.test(path))?.[1]
    if (status !== undefined) return json(response, status, refusal(status))
    if (state.fixture.role === "supplier" && closedToSupplier.test(path)) {
      return json(response, 403, refusal(403))
    }
    if (path === "changes/") {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(":\n\n")
      streams.add(response)
      response.once("close", () => streams.delete(response))
      return undefined
    }
    if (path.endsWith("preview/")) {
      const { selection } = (await read(request)) as { readonly selection: Selected }
      return json(response, 200, preview(path, selection, state.fixture))
    }
    if (request.method === "POST") {
      posted.push({ path, body: await read(request) })
      return json(response, 200, done(path, posted))
    }
    const answer = answerTo(path, url.searchParams, state.fixture)
    return answer === undefined
      ? json(response, 404, { code: "not_found", detail: "Not found." })
      : json(response, 200, answer)
  }
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost")
    if (url.pathname.startsWith("/board/api/")) void api(request, response, url)
    else file(response, folder, url.pathname.replace("/board/", ""))
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  const address = server.address()
  const taken = typeof address === "object" && address !== null ? address.port : port
  return {
    get fixture() {
      return state.fixture
    },
    set fixture(fixture) {
      state.fixture = fixture
    },
    origin: `http://127.0.0.1:${taken}`,
    posted,
    listening: () => streams.size,
    change: (supplier) => {
      const data = JSON.stringify({ import_suppliers: [supplier] })
      for (const stream of streams) stream.write(`event: changed\ndata: ${data}\n\n`)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
