/**
 * Files about each account of a migration: balances, for managers, and what is to be corrected,
 * also for the supplier.
 */
import { Effect, Stream } from "effect"
import { RoleRefused } from "@data-import/api/Refusal"
import type { BoardRole } from "@data-import/domain/access/BoardUser"
import { correctionCsv } from "@data-import/domain/board/CorrectionFile"
import { AccountLists, type CorrectionFilter } from "@data-import/domain/board/AccountLists"
import { invalid } from "@data-import/domain/board/Selection"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { supplierOf } from "@data-import/server/routing/PathNames"
import { sheetOf } from "./CorrectionSheet.ts"
import * as Files from "./Files.ts"
import * as Guard from "./Guard.ts"

type Asking = Pick<Call, "params" | "requestId"> &
  Guard.Signed & { readonly parameters: CorrectionFilter }

/** A sheet is made in memory, in a thread. */
const rowsOfSheet = 50_000

const tooLong = invalid({
  attr: "cohort",
  code: "invalid",
  detail: `The sheet would have more than ${rowsOfSheet.toLocaleString("en-GB")} rows. Take the CSV file, or a cohort.`
})

export const handlers = Effect.gen(function* () {
  const lists = yield* AccountLists

  const fileFor =
    (...roles: ReadonlyArray<BoardRole>) =>
    <A, E, R>(make: (call: Asking) => Effect.Effect<A, E, R>) =>
    (call: Asking) =>
      roles.includes(call.session.user.role) ? make(call) : Effect.fail(new RoleRefused())

  const corrections = (call: Asking) =>
    lists.corrections(Guard.callerOf(call), supplierOf(call), call.parameters)

  return {
    exportBalances: fileFor("manager")((call) =>
      Effect.flatMap(
        lists.balances(Guard.callerOf(call), supplierOf(call), call.parameters),
        (text) => Answer.csvParts(text, Files.header(Files.nameOf(call, "balances.csv")))
      )
    ),
    exportCorrections: fileFor(
      "manager",
      "supplier"
    )((call) =>
      Effect.flatMap(corrections(call), (rows) =>
        Answer.csvParts(correctionCsv(rows), Files.header(Files.nameOf(call, "corrections.csv")))
      )
    ),
    exportCorrectionSheet: fileFor(
      "manager",
      "supplier"
    )(
      Effect.fnUntraced(function* (call) {
        const all = yield* corrections(call)
        const rows = yield* Stream.runCollect(Stream.take(all, rowsOfSheet + 1))
        if (rows.length > rowsOfSheet) return yield* tooLong
        return Files.sheet(yield* sheetOf(rows), Files.nameOf(call, "corrections.xlsx"))
      })
    )
  }
})
