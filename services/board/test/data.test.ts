/** What the board shows and does, called as its pages call it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { stagedContent } from "@data-import/domain/testing/importStates"
import { issueAll } from "./boardPrograms.ts"
import { serviceWith, signedIn } from "./boardService.ts"

const staged = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const owner = yield* freshSupplier
  const { caller, keyOf, supplier } = owner
  for (const number of ["a", "b"]) {
    const command = { ...stagedContent, cohort: "wave-1", caller, at: noon }
    yield* imports.stage({ ...command, key: keyOf(number) })
  }
  return supplier.code
})

/** A manager's browser, and a function that sends changes with it. */
const manager = Effect.gen(function* () {
  const { get, post } = yield* signedIn
  const session = JSON.parse((yield* get("/board/api/session/")).text) as { csrf_token: string }
  const act = (path: string, body: unknown) =>
    post(path, { "x-csrf-token": session.csrf_token }, JSON.stringify(body))
  return { act, get }
})

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })(
  "the data of the board",
  (it) => {
    it.effect("answers every page of a migration", () =>
      Effect.gen(function* () {
        const code = yield* staged
        const { get } = yield* manager
        const root = `/board/api/migrations/${code}/`
        const paths = [
          "/board/api/migrations/",
          root,
          `${root}history/?step=hour`,
          `${root}cohorts/`,
          `${root}batches/`,
          `${root}problems/?cohort=wave-1`,
          `${root}imports/?state=PENDING&search=a&limit=5`,
          `${root}imports/?without_cohort=true`,
          `${root}imports/?money=balance&ledger=GAS_LEDGER`,
          `${root}imports/?state=FAILED&first_problems=1`,
          `${root}imports/a/`,
          `${root}forecasts/`,
          `${root}sign-off/`,
          `${root}go-no-go/?cohort=wave-1`,
          `/board/api/audit/?import_supplier=${code}`
        ]
        for (const path of paths) {
          const { status, text } = yield* get(path)
          expect([path, status, text.slice(0, 200)]).toEqual([path, 200, expect.any(String)])
        }
        const rows = JSON.parse((yield* get(`${root}imports/`)).text) as { total: number }
        expect(rows.total).toBe(2)
        const csv = yield* get(`${root}summary.csv`)
        expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8")
        expect(csv.text).toContain("Imports,PENDING,2")
        const pdf = yield* get(`${root}summary.pdf`)
        expect(pdf.headers["content-type"]).toBe("application/pdf")
        expect(pdf.text.startsWith("%PDF-1")).toBe(true)
        expect((yield* get(`${root}corrections.csv`)).text).toMatch(/^External account number,/)
        const sheet = yield* get(`${root}corrections.xlsx?cohort=wave-1`)
        expect(sheet.headers["content-type"]).toMatch(/spreadsheetml\.sheet$/)
        expect(sheet.text.startsWith("PK")).toBe(true)
        expect((yield* get("/board/api/audit.csv")).text).toMatch(/^id,at,/)
        expect((yield* get("/board/api/migrations/NOBODY/")).status).toBe(404)
        expect((yield* get(`${root}imports/?limit=0`)).status).toBe(400)
        expect((yield* get(`${root}imports/?money=all`)).status).toBe(400)
        const unknown = `${root}batches/${crypto.randomUUID()}/`
        expect((yield* get(unknown)).status).toBe(404)
        expect((yield* get(`${unknown}lines/?outcome=REMAINING&after=2`)).status).toBe(404)
        expect((yield* get(`${unknown}lines/?outcome=OPEN`)).status).toBe(400)
      })
    )

    it.effect("rehearses and decides with the rights of the board, and shows the forecast", () =>
      Effect.gen(function* () {
        const code = yield* staged
        const { act, get } = yield* manager
        const team = "Migration Team"
        const root = `/board/api/migrations/${code}/`
        const batch_id = crypto.randomUUID()
        const rehearsal = { batch_id, selection: {}, operations_team_name: team, dry_run: true }
        const started = yield* act(`${root}process/`, rehearsal)
        expect([started.status, started.text]).toEqual([200, expect.stringContaining('"lines":2')])
        const { text } = yield* get(`${root}batches/${batch_id}/`)
        expect(JSON.parse(text)).toMatchObject({
          batch: { dry_run: true },
          forecast: { lines: { total: 2, not_tried: 2 }, sums: { accounts: 0 }, duration: null },
          outcome: { table: [], compared: 0, surprises: [] }
        })
        const listed = yield* get(`${root}batches/${batch_id}/outcome/?happened=CREATED&limit=5`)
        const none = { batch: { dry_run: true }, lines: [], next_after: null }
        expect(JSON.parse(listed.text)).toMatchObject(none)
        const decision = { cohort: "wave-1", decision: "GO", rehearsal_id: null, note: "Why" }
        expect((yield* act(`${root}go-no-go/`, decision)).status).toBe(200)
        const preview = yield* act(`${root}process/preview/`, { selection: { numbers: ["a"] } })
        expect([preview.status, JSON.parse(preview.text)]).toMatchObject([200, { accounts: 1 }])
      })
    )

    it.effect("moves accounts, and answers the move", () =>
      Effect.gen(function* () {
        const code = yield* staged
        const { act, get } = yield* manager
        const root = `/board/api/migrations/${code}/`
        const move_id = crypto.randomUUID()
        const cohort = { move_id, cohort: "wave-2", selection: { state: "PENDING" } }
        expect((yield* act(`${root}cohort/`, cohort)).text).toBe('{"changed":2,"next_after":null}')
        const without = {
          move_id: crypto.randomUUID(),
          cohort: "wave-3",
          selection: { cohort: null }
        }
        expect((yield* act(`${root}cohort/`, without)).text).toBe('{"changed":0,"next_after":null}')
        const move = yield* get(`${root}moves/${move_id}/`)
        expect([move.status, JSON.parse(move.text)]).toMatchObject([200, { can_undo: true }])
        const unnamed = yield* act(`${root}moves/${move_id}/undo/`, {})
        expect([unnamed.status, unnamed.text]).toEqual([400, expect.stringContaining("undo_id")])
      })
    )

    it.effect("names what a choice may be", () =>
      Effect.gen(function* () {
        const code = yield* staged
        const { act } = yield* manager
        const root = `/board/api/migrations/${code}/`
        const said = { comment_id: crypto.randomUUID(), cohort: null, text: "Hi" }
        const alerts = { failing_share: 5, import_suppliers: null, email: null }
        for (const [path, body, attr] of [
          [`${root}status/`, { status: "Complete" }, "status"],
          [`${root}comments/`, { ...said, external_account_number: null, about: "x" }, "about"],
          ["/board/api/alerts/", { ...alerts, kinds: ["x"] }, "kinds.0"]
        ] as const) {
          const wrong = yield* act(path, body)
          expect([wrong.status, JSON.parse(wrong.text)]).toMatchObject([
            400,
            { code: "request_failed_validation", errors: [{ attr, code: "invalid_choice" }] }
          ])
        }
      })
    )

    it.effect("performs a manager's actions, and reports what is wrong with a body", () =>
      Effect.gen(function* () {
        const code = yield* staged
        const { act, get } = yield* manager
        const root = `/board/api/migrations/${code}/`
        const plan = { points: [{ on: "2030-01-31", accounts: 10 }] }
        expect(yield* act(`${root}plan/`, plan)).toMatchObject({ status: 200 })
        const half = yield* act(`${root}plan/`, { points: [{ on: "2030-01-31", accounts: 0.5 }] })
        expect([half.status, half.text]).toEqual([
          400,
          expect.stringContaining("points.0.accounts")
        ])
        const status = yield* act(`${root}status/`, { status: "Paused", reason: "Why" })
        expect([status.status, status.text]).toEqual([200, '{"status":"Paused"}'])
        expect((yield* act(`${root}imports/a/reveal/`, {})).status).toBe(200)
        const preview = yield* get(`${root}undo/?cohort=wave-2&with_additions=true`)
        expect([preview.status, JSON.parse(preview.text)]).toMatchObject([200, { total: 0 }])
        const undo = { batch_id: crypto.randomUUID(), cohort: "wave-2", with_additions: true }
        const unexplained = yield* act(`${root}undo/`, { ...undo, reason: " " })
        expect([unexplained.status, JSON.parse(unexplained.text)]).toMatchObject([
          400,
          { errors: [{ attr: "reason", code: "blank" }] }
        ])
        const undone = yield* act(`${root}undo/`, { ...undo, reason: "Why" })
        expect([undone.status, undone.text]).toEqual([200, expect.stringContaining('"lines":0')])
        yield* issueAll()
        const certificate_id = crypto.randomUUID()
        const asked = yield* act(`${root}certificates/`, { certificate_id, cohort: null })
        expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("RUNNING")])
        yield* issueAll()
        for (const [extension, type] of [
          ["json", "application/json"],
          ["jws", "application/jose"],
          ["pdf", "application/pdf"]
        ]) {
          const file = yield* get(`${root}certificates/${certificate_id}/certificate.${extension}`)
          expect([file.status, file.headers["content-type"]]).toEqual([200, type])
          expect(file.headers["content-disposition"]).toContain(`.${extension}"`)
        }
        const reason = "Nothing more comes"
        const signed = { import_supplier: code, accept_open: true, reason, certificate_id }
        expect((yield* act(`${root}sign-off/`, signed)).status).toBe(200)
        const audit = JSON.parse(
          (yield* get(`/board/api/audit/?who=board:local&import_supplier=${code}`)).text
        ) as {
          entries: ReadonlyArray<{ action: string }>
        }
        const actions = audit.entries.map(({ action }) => action)
        expect(actions).toEqual([
          "comment",
          "sign_off",
          "change_supplier_status",
          "issue_certificate",
          "start_batch",
          "create_batch",
          "read_import",
          "comment",
          "change_supplier_status",
          "set_plan",
          "set_plan"
        ])
      })
    )
  }
)
