import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import { ImportBoard } from "@data-import/domain/board/ImportBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { ProgrammeBoard } from "@data-import/domain/board/ProgrammeBoard"
import { decideRevert } from "@data-import/domain/imports/Revert"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { type RevertCommand, Reverts } from "@data-import/domain/imports/Reverts"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { endOf, finish, taken } from "@data-import/domain/testing/begunBatches"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import { noon, noonPlus } from "@data-import/domain/testing/freshNames"
import {
  adding,
  card,
  changeAccount,
  creditOf,
  noteOf
} from "@data-import/domain/testing/importedAccounts"
import { claim, complete as completeAt } from "@data-import/domain/testing/importStates"
import { begun, boardLayer, complete, entriesOf, type Owner, stage } from "./boardPrograms.ts"

const day = 86_400
const inProgress = "account_import_process_in_progress"

const codeOf = (failure: object) => ("code" in failure ? String(failure.code) : "none")

type Reverting = Omit<RevertCommand, "caller" | "key">

const revert = ({ caller, keyOf }: Owner, name: string, command: Reverting) =>
  Effect.flatMap(Reverts, (reverts) => reverts.revert({ ...command, key: keyOf(name), caller }))

/** The codes with which reverts of these accounts are refused; null for those that are reverted. */
const refusalsOf = Effect.fnUntraced(function* (
  owner: Owner,
  accounts: ReadonlyMap<string, AccountNumber>,
  withAdditions: boolean
) {
  const codes: Array<string | null> = []
  for (const [name, number] of accounts) {
    const decide: Reverting["decide"] = (view) =>
      decideRevert(owner.keyOf(name), view, { number, withAdditions })
    const dryRun = { number, reason: "Why", dryRun: true, decide, at: noon }
    const decided = yield* Effect.result(revert(owner, name, dryRun))
    codes.push(Result.isFailure(decided) ? codeOf(decided.failure) : null)
  }
  return codes
})

/** The command that undoes a wave. */
const undoing = () => ({
  batch_id: crypto.randomUUID() as string,
  cohort: "wave-1",
  reason: "All balances have the wrong sign",
  with_additions: true
})

/** Ends the lines of a batch as if they had succeeded. */
const ended = Effect.fnUntraced(function* (id: string, at: DateTime.Utc) {
  const chunk = yield* Effect.repeat(taken(at), { until: ({ batch }) => batch.id === id })
  yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")), { at })
}, Effect.scoped)

layer(boardLayer, { excludeTestServices: true })("the undo of a wave", (it) => {
  it.effect("counts beforehand what reverts do, by every reason for which they are refused", () =>
    Effect.gen(function* () {
      const { undoPreview } = yield* MigrationActions
      const imports = yield* ImportProcesses
      const { caller, code, mine } = yield* begun
      const old = ["closed", "deleted", "kept"]
      yield* stage(mine, ["plain", "credited", "paying", ...old, "running", "waiting"], "wave-1")
      yield* stage(mine, ["other"], "wave-2")
      yield* complete(mine, "other")
      const accounts = new Map<string, AccountNumber>()
      for (const [name, at] of [
        ["closed", -14 * day],
        ["deleted", -14 * day + 1],
        ["kept", -13 * day]
      ] as const) {
        accounts.set(name, (yield* completeAt(mine, name, noonPlus(at))).number)
      }
      yield* imports.deletePayloads({ importedBefore: noonPlus(-13 * day), limit: 10 })
      for (const name of ["plain", "credited", "paying"]) {
        accounts.set(name, (yield* complete(mine, name)).number)
      }
      const change = (name: string, make: Parameters<typeof changeAccount>[1]) =>
        changeAccount({ key: mine.keyOf(name), caller: mine.caller }, make)
      yield* change("credited", adding(creditOf("a"), creditOf("b")))
      yield* change("paying", () => ({
        instruction: card,
        notes: [{ ...noteOf({ body: "N" }), created_at: noon }]
      }))
      yield* claim(mine.keyOf("running"), mine.caller, noon)
      const counted = Effect.fnUntraced(function* (withAdditions: boolean) {
        const query = { cohort: "wave-1", with_additions: withAdditions }
        const { refused, ...told } = yield* undoPreview(caller, code, query)
        const codes = yield* refusalsOf(mine, accounts, withAdditions)
        expect(told.accounts).toBe(codes.filter((each) => each === null).length)
        for (const each of refused.filter(({ code: one }) => one !== inProgress)) {
          expect(each.accounts).toBe(codes.filter((one) => one === each.code).length)
        }
        expect(told.accounts + refused.reduce((all, each) => all + each.accounts, 0)).toBe(7)
        return { ...told, refused }
      })
      expect(yield* counted(false)).toEqual({
        ...{ at: "2026-01-01T12:00:00Z", total: 7, accounts: 2, balance: "100.00", added: "0.00" },
        additions: { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 },
        payment_instructions: [],
        closes_at: "2026-01-02T12:00:00Z",
        refused: [
          { code: "account_has_additions", accounts: 2, closed_at: null },
          { code: inProgress, accounts: 1, closed_at: null },
          { code: "payload_not_kept", accounts: 1, closed_at: null },
          { code: "revert_window_closed", accounts: 1, closed_at: "2026-01-01T12:00:00Z" }
        ]
      })
      expect(yield* counted(true)).toMatchObject({
        ...{ accounts: 4, balance: "220.00", added: "20.00" },
        additions: { transactions: 2, notes: 1, statements: 0, payment_instructions: 1 },
        payment_instructions: [{ vendor: "STRIPE", accounts: 1 }]
      })
      const all = { cohort: null, with_additions: true }
      expect(yield* undoPreview(caller, code, all)).toMatchObject({ total: 8, accounts: 5 })
      yield* (yield* Configuration).changeSupplierStatus(code, () => Result.succeed("Complete"))
      expect((yield* undoPreview(caller, code, all)).refused[0]).toEqual({
        code: "import_supplier_migration_not_ongoing",
        accounts: 7,
        closed_at: null
      })
    })
  )

  it.effect("starts one batch, also for a paused supplier, until the migration is signed off", () =>
    Effect.gen(function* () {
      const { setStatus, signOff, undo } = yield* MigrationActions
      const { batch: shown } = yield* MigrationBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b", "pending"], "wave-1")
      yield* stage(mine, ["c"], "wave-2")
      for (const number of ["a", "b", "c"]) yield* complete(mine, number)
      yield* setStatus(caller, code, { status: "Paused", reason: "x" })
      const command = undoing()
      const started = { batch_id: command.batch_id, lines: 2 }
      for (let times = 0; times < 2; times++) {
        expect(yield* undo(caller, code, command)).toEqual(started)
      }
      const { cohort, reason, with_additions } = command
      expect(yield* shown(user, code, command.batch_id)).toMatchObject({
        batch: { operation: "REVERT", name: "Undo of wave-1", dry_run: false, state: "QUEUED" },
        revert: { cohort, reason, with_additions }
      })
      for (const other of [{ cohort: "wave-2" }, { reason: "x" }, { with_additions: false }]) {
        expect(yield* Effect.flip(undo(caller, code, { ...command, ...other }))).toMatchObject({
          _tag: "ValidationFailed",
          errors: [{ attr: "batch_id" }]
        })
      }
      const long = { ...undoing(), cohort: "😀".repeat(64) }
      yield* undo(caller, code, long)
      const { batch } = yield* shown(user, code, long.batch_id)
      expect(batch.name).toBe(`Undo of ${"😀".repeat(56)}`)
      yield* signOff(caller, code, {
        import_supplier: code,
        accept_open: true,
        reason: "x",
        certificate_id: null
      })
      expect(yield* Effect.flip(undo(caller, code, undoing()))).toMatchObject({
        _tag: "MigrationNotOngoing",
        status: "Complete"
      })
      expect((yield* entriesOf(caller.requestId)).slice(2, 4)).toEqual([
        "board:mia create_batch created",
        "board:mia start_batch changed"
      ])
    })
  )

  it.effect("is told until something is imported again, and is no pace", () =>
    Effect.gen(function* () {
      const { process, undo } = yield* MigrationActions
      const { detail } = yield* MigrationBoard
      const { read } = yield* ProgrammeBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a"], "wave-1")
      const processing = { selection: { cohort: "wave-1" }, operations_team_name: "Migration Team" }
      const run = yield* process(caller, code, { batch_id: crypto.randomUUID(), ...processing })
      const { number } = yield* complete(mine, "a")
      yield* ended(run.batch_id, noon)
      const endedWaves = Effect.map(read(user, null), ({ since }) => since.waves)
      expect(yield* endedWaves).toMatchObject([{ cohort: "wave-1" }])
      const { batch_id } = yield* undo(caller, code, undoing())
      yield* adjust("1 minute")
      const at = yield* DateTime.now
      const decide = () => Result.succeed(true)
      yield* revert(mine, "a", { number, reason: "x", dryRun: false, decide, at })
      yield* ended(batch_id, at)
      expect(yield* endedWaves).toEqual([])
      const told = Effect.map(detail(user, code), ({ migration }) => migration)
      expect(yield* told).toMatchObject({
        condition: "waiting",
        reason: "wave-1 was taken back. 1 account waits to be imported.",
        imported_last_hour: 0
      })
    })
  )

  it.effect("leaves the earlier accounts of an import on its page", () =>
    Effect.gen(function* () {
      const { account } = yield* ImportBoard
      const { code, mine, user } = yield* begun
      yield* stage(mine, ["a"])
      const { number } = yield* complete(mine, "a")
      const present = { reverted: [], revert_until: "2026-01-15T12:00:00Z" }
      expect(yield* account(user, code, "a")).toMatchObject(present)
      const wrong = { number, reason: "The balance has the wrong sign" }
      yield* revert(mine, "a", {
        ...wrong,
        dryRun: false,
        decide: () => Result.succeed(true),
        at: noonPlus(60)
      })
      const earlier = {
        kraken_account_number: number,
        account_created_at: "2026-01-01T12:00:00Z",
        reverted_at: "2026-01-01T12:01:00Z",
        reverted_by: mine.caller.apiKey,
        reason: wrong.reason
      }
      const pending = { state: "PENDING", revert_until: null, reverted: [earlier] }
      expect(yield* account(user, code, "a")).toMatchObject(pending)
      yield* completeAt(mine, "a", noonPlus(120))
      const again = { state: "IMPORTED", revert_until: "2026-01-15T12:02:00Z", reverted: [earlier] }
      expect(yield* account(user, code, "a")).toMatchObject(again)
    })
  )

  it.effect("is refused for suppliers that the user may not see", () =>
    Effect.gen(function* () {
      const { undo, undoPreview } = yield* MigrationActions
      const { caller, foreign } = yield* begun
      const { code } = foreign.supplier
      const preview = undoPreview(caller, code, { cohort: null, with_additions: false })
      for (const attempt of [preview, undo(caller, code, undoing())]) {
        expect(yield* Effect.flip<unknown, object, never>(attempt)).toMatchObject({
          _tag: "NotFound"
        })
      }
      expect(yield* entriesOf(caller.requestId)).toEqual([])
    })
  )
})
