import { expect, layer as withLayer } from "@effect/vitest"
import { type DateTime, Duration, Effect, Layer } from "effect"
import { ImportBoard, layer } from "@data-import/domain/board/ImportBoard"
import { importsSampled, problemsBody, shares } from "@data-import/domain/board/Problems"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Documents } from "@data-import/domain/documents/Documents"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import type { FailedImport } from "@data-import/domain/migrations/ImportSearch"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshAttempt, newAccountFor, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { lease, noLimits } from "@data-import/domain/testing/importStates"
import { domesticAccount, domesticPayload } from "@data-import/domain/testing/samples"
import { begin, boardLayer, complete, fail, type Owner, stage } from "./boardPrograms.ts"

const payloadOf = ({ keyOf }: Owner, number: string) =>
  JSON.stringify({ ...domesticPayload(), ...keyOf(number) })

const requestId = RequestId.make("request-of-the-board")

const notFound = { _tag: "NotFound" }

withLayer(boardLayer, { excludeTestServices: true })("the imports on the board", (it) => {
  it.effect("are grouped by code and path, and masked", () =>
    Effect.gen(function* () {
      const { problems } = yield* ImportBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a", "b", "c", "d"], "wave-1")
      yield* fail(mine, "a")
      yield* fail(mine, "b", [{ code: "invalid", attr: "customers.7.landline" }])
      const both = [
        { code: "invalid", attr: "customers.0.landline" },
        { code: "blank", attr: "billing_name" }
      ] as const
      yield* fail(mine, "c", both)
      const found = yield* problems(user, mine.supplier.code, null)
      expect(found).toMatchObject({ failed: 3, of: 3 })
      expect(
        found.groups.map(({ attr, cleared, code, imports }) => [code, attr, imports, cleared])
      ).toEqual([
        ["invalid", "customers.*.landline", 3, 2],
        ["blank", "billing_name", 1, 3]
      ])
      expect(found.groups[0]?.examples.map(({ attr }) => attr)).toEqual([
        "customers.0.landline",
        "customers.7.landline",
        "customers.0.landline"
      ])
      expect(JSON.stringify(found)).not.toContain("Mrs Example")
      const none = { failed: 0, of: 0, groups: [] }
      expect(yield* problems(user, mine.supplier.code, "wave-2")).toEqual(none)
    })
  )

  it.effect("are listed by cleared problems, as many as the problems report", () =>
    Effect.gen(function* () {
      const { imports, problems } = yield* ImportBoard
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      yield* stage(mine, ["a", "b", "c", "d"], "wave-1")
      yield* fail(mine, "a")
      const blank = { code: "blank", attr: "billing_name" } as const
      yield* fail(mine, "b", [{ code: "invalid", attr: "customers.7.landline" }, blank])
      yield* fail(mine, "c", [blank])
      const { groups } = yield* problems(user, code, null)
      const cleared = Effect.fnUntraced(function* (first: number, cohort?: string) {
        const more = cohort === undefined ? {} : { cohort }
        const query = { state: "FAILED", first_problems: first, after: null, limit: 10, ...more }
        const found = yield* imports(user, code, query)
        expect(found.total).toBe(found.imports.length)
        return found.imports.map(({ external_account_number: number }) => number)
      })
      expect(yield* cleared(1)).toEqual(["c"])
      expect(yield* cleared(2)).toEqual(["a", "b", "c"])
      expect(groups.map((group) => group.cleared)).toEqual([1, 3])
      expect(yield* cleared(2, "wave-2")).toEqual([])
    })
  )

  it.effect("are listed with their total if it is counted", () =>
    Effect.gen(function* () {
      const { imports } = yield* ImportBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a", "b", "c"], "wave-1")
      yield* fail(mine, "b")
      const of = (query: object) =>
        Effect.map(
          imports(user, mine.supplier.code, { after: null, limit: 2, ...query }),
          ({ imports: rows, next_after, total }) => [
            rows.map((row) => row.external_account_number).join(""),
            total,
            next_after
          ]
        )
      expect(yield* of({})).toEqual(["ab", 3, "b"])
      expect(yield* of({ after: "b" })).toEqual(["c", 3, null])
      expect(yield* of({ state: "FAILED" })).toEqual(["b", 1, null])
      expect(yield* of({ code: "invalid", state: "FAILED" })).toEqual(["b", 1, null])
      expect(yield* of({ code: "invalid" })).toEqual(["b", null, null])
      expect(yield* of({ corrected: true })).toEqual(["", null, null])
      expect(yield* of({ attr: "customers.*.landline" })).toEqual(["b", null, null])
      expect(yield* of({ search: "c" })).toEqual(["c", null, null])
      expect(yield* of({ search: "c", cohort: "wave-2" })).toEqual(["", 0, null])
      const blank = { attr: "customers.*.landline", code: "blank" }
      expect(yield* of({ ...blank, state: "FAILED" })).toEqual(["", 0, null])
      expect(yield* of({ cohort: "wave-2" })).toEqual(["", 0, null])
      const without_cohort = true
      expect(yield* of({ without_cohort })).toEqual(["", 0, null])
      yield* stage(mine, ["d", "e"])
      yield* fail(mine, "e")
      expect(yield* of({ without_cohort })).toEqual(["de", 2, null])
      expect(yield* of({ without_cohort, state: "FAILED" })).toEqual(["e", 1, null])
      expect(yield* of({ without_cohort, code: "invalid" })).toEqual(["e", null, null])
      expect(yield* of({ state: "LOST" })).toEqual(["", 0, null])
    })
  )

  it.effect("show the life of one account, masked", () =>
    Effect.gen(function* () {
      const { account } = yield* ImportBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"], "wave-1", payloadOf(mine, "a"))
      yield* fail(mine, "a")
      const pending = yield* account(user, mine.supplier.code, "a")
      expect(pending).toMatchObject({
        import_supplier: mine.supplier.code,
        external_account_number: "a",
        state: "FAILED",
        cohort: "wave-1",
        times_staged: 1,
        kraken_account_number: null,
        balance: null,
        added: { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 },
        audit_seal: { holds: true, broken_at: null }
      })
      expect(pending.attempts).toMatchObject([
        { code: "account_failed_validation", errors: [{ code: "invalid" }] }
      ])
      const [customer] = domesticPayload().customers
      const text = JSON.stringify(pending)
      for (const personal of [customer?.family_name, customer?.email, "Mrs Example"]) {
        expect(text).not.toContain(personal)
      }
      expect(pending.documents.length).toBeGreaterThan(0)
      expect(pending.audit.map(({ action }) => action)).toEqual(["process", "stage"])
      const { number } = yield* complete(mine, "a")
      expect(yield* account(user, mine.supplier.code, "a")).toMatchObject({
        state: "IMPORTED",
        kraken_account_number: number,
        balance: "50.00"
      })
    })
  )

  it.effect("say of an attempt that passed if the one before had failed by the day", () =>
    Effect.gen(function* () {
      const { account } = yield* ImportBoard
      const imports = yield* ImportProcesses
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"])
      const [key, { caller }] = [mine.keyOf("a"), mine]
      const begun = Effect.fnUntraced(function* (at: DateTime.Utc, judgedBy: string) {
        const attempt = freshAttempt()
        const held = { key, attempt, dryRun: false, caller, at }
        yield* imports.claim({ ...held, lease, limits: noLimits, judgedBy })
        return held
      })
      const errors = [
        {
          code: "max_value",
          attr: "customers.0.date_of_birth",
          parameters: { business_day: "2026-01-01" }
        }
      ] as const
      const failed = yield* begun(noon, "2026-01-01 1 x")
      yield* imports.release({ ...failed, outcome: "account_failed_validation", errors })
      const later = yield* begun(noonPlus(86_400), "2026-01-02 1 y")
      const passed = { outcome: "dry_run_successful", errors: [] } as const
      yield* imports.release({ ...later, ...passed, dryRun: false })
      const { attempt, at } = yield* begun(noonPlus(86_401), "2026-01-02 1 x")
      const newAccount = { ...newAccountFor(key, at), account: domesticAccount(key) }
      yield* imports.complete({ key, attempt, newAccount, caller })
      const byDay = {
        failed_at: "2026-01-01T12:00:00Z",
        failed_on: "2026-01-01",
        business_day: "2026-01-02",
        alone: true
      }
      const { attempts } = yield* account(user, mine.supplier.code, "a")
      expect(attempts.map(({ passed_by_day }) => passed_by_day)).toEqual([
        byDay,
        { ...byDay, alone: false },
        null
      ])
    })
  )

  it.effect("are shown unmasked on request, which is logged with the user", () =>
    Effect.gen(function* () {
      const { reveal } = yield* ImportBoard
      const { audit } = yield* AuditLog
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"], null, payloadOf(mine, "a"))
      const { stored } = yield* reveal({ user, requestId }, mine.supplier.code, "a")
      expect(stored).toMatchObject({ customers: domesticPayload().customers })
      expect((yield* audit(mine.keyOf("a"))).at(-1)).toMatchObject({
        apiKey: "board:mia",
        organisation: mine.supplier.organisation,
        action: "read_import",
        outcome: "read",
        requestId
      })
    })
  )

  it.effect("show nothing of a customer that was erased", () =>
    Effect.gen(function* () {
      const { account, reveal } = yield* ImportBoard
      const { erase } = yield* Erasures
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"], null, payloadOf(mine, "a"))
      const key = mine.keyOf("a")
      yield* erase({ key, at: noon })
      expect(yield* account(user, mine.supplier.code, "a")).toMatchObject({
        state: "ERASED",
        stored: null,
        documents: []
      })
      expect(yield* reveal({ user, requestId }, mine.supplier.code, "a")).toEqual({ stored: null })
    })
  )

  it.effect("give links to their own documents only, and mask their paths", () =>
    Effect.gen(function* () {
      const { account, link } = yield* ImportBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"], null, payloadOf(mine, "a"))
      const { code } = mine.supplier
      const { documents } = yield* account(user, code, "a")
      const paths = JSON.stringify(domesticPayload().notes[0]?.document_paths)
      expect(paths).toContain("request-2024-11-02.pdf")
      expect(documents[0]?.document_path).toMatch(/^n… \(\d+ characters\)\.pdf$/)
      for (const place of [documents.length, -1, 0.5, Number.NaN, 1e300]) {
        const refused = yield* Effect.flip(link({ user, requestId }, code, "a", place))
        expect(refused, String(place)).toMatchObject(notFound)
      }
    })
  )

  it.effect("give a link to a document of their supplier, which is logged with the user", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const url = new URL("https://store.example/signed")
      const store = Layer.succeed(Documents, {
        find: () => Effect.succeedNone,
        uploadLink: () => Effect.succeedNone,
        readLink: (...args) => {
          asked.push(args)
          return Effect.succeedSome(url)
        }
      })
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"], null, payloadOf(mine, "a"))
      const { link } = yield* Effect.provide(ImportBoard, Layer.provide(Layer.fresh(layer), store))
      const told = yield* link({ user, requestId }, mine.supplier.code, "a", 0)
      expect(told).toEqual({ url: url.href, expires_at: "2026-01-01T12:05:00Z" })
      const [document] = domesticPayload().notes[0]?.document_paths ?? []
      const { documentRoot } = mine.supplier
      expect(asked).toEqual([[documentRoot, document?.document_path, Duration.minutes(5)]])
      const { audit } = yield* AuditLog
      expect((yield* audit(mine.keyOf("a"))).at(-1)).toMatchObject({
        apiKey: "board:mia",
        action: "read_document",
        requestId
      })
    })
  )

  it("are sampled in proportion to how often each outcome occurs", () => {
    const code = (name: string, imports: number) => ({ code: name, imports, examples: [] })
    const few = [code("account_failed_validation", 5), code("invalid", 5), code("lease_expired", 1)]
    expect(shares(few)).toEqual([
      { code: "account_failed_validation", limit: 5 },
      { code: "lease_expired", limit: 1 }
    ])
    const many = [code("account_failed_validation", 99_000), code("service_unavailable", 1_000)]
    expect(shares(many).map(({ limit }) => limit)).toEqual([
      importsSampled * 0.99,
      importsSampled * 0.01
    ])
  })

  it("are never cleared if they have more errors than were read", () => {
    const failed: FailedImport = {
      number: ExternalAccountNumber.make("a"),
      outcome: "account_failed_validation",
      errors: [
        { code: "invalid", attr: "billing_name", parameters: { business_day: "2026-01-15" } }
      ],
      hasMore: true
    }
    expect(problemsBody(2, [failed, { ...failed, hasMore: false }]).groups).toMatchObject([
      { imports: 2, cleared: 1, examples: [{ business_day: "2026-01-15" }, {}] }
    ])
  })
})
