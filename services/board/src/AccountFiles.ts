/** Files about each account of a migration, for managers: balances, and what is to be corrected. */
import { Effect, Stream } from "effect"
import writeSheet from "write-excel-file/node"
import { ManagerRequired } from "@data-import/api/Refusal"
import {
  correctionCsv,
  correctionHead,
  type CorrectionRow
} from "@data-import/domain/board/CorrectionFile"
import { AccountLists } from "@data-import/domain/board/AccountLists"
import { invalid } from "@data-import/domain/board/Selection"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { supplierOf } from "@data-import/server/routing/PathNames"
import * as Files from "./Files.ts"
import * as Guard from "./Guard.ts"

type Asking = Pick<Call, "params" | "requestId"> &
  Guard.Signed & { readonly parameters: { readonly cohort?: string; readonly code?: string } }

/** A sheet is made in memory. */
const rowsOfSheet = 50_000

const tooLong = invalid({
  attr: "cohort",
  code: "invalid",
  detail: `The sheet would have more than ${rowsOfSheet.toLocaleString("en-GB")} rows. Take the CSV file, or a cohort.`
})

const widths = [24, 12, 8, 34, 48, 48, 36, 34, 28]

/** Characters that XML cannot hold. */
const unprintable = /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]/gu

const cellOf = (value: CorrectionRow[number]) =>
  typeof value === "string" ? value.replaceAll(unprintable, "\ufffd") : value

const sheetOf = (rows: ReadonlyArray<CorrectionRow>) =>
  Effect.promise(() =>
    writeSheet(
      [
        correctionHead.map((value) => ({ value: String(value), fontWeight: "bold" as const })),
        ...rows.map((row) => row.map(cellOf))
      ],
      { sheet: "Corrections", columns: widths.map((width) => ({ width })), stickyRowsCount: 1 }
    ).toBuffer()
  )

export const handlers = Effect.gen(function* () {
  const lists = yield* AccountLists

  const file =
    <A, E, R>(make: (call: Asking, cohort: string | null) => Effect.Effect<A, E, R>) =>
    (call: Asking) =>
      call.session.user.role === "manager"
        ? make(call, call.parameters.cohort ?? null)
        : Effect.fail(new ManagerRequired())

  const corrections = (call: Asking, cohort: string | null) =>
    lists.corrections(Guard.callerOf(call), supplierOf(call), cohort, call.parameters.code)

  return {
    exportBalances: file((call, cohort) =>
      Effect.flatMap(lists.balances(Guard.callerOf(call), supplierOf(call), cohort), (text) =>
        Answer.csvParts(text, Files.header(Files.nameOf(call, "balances.csv")))
      )
    ),
    exportCorrections: file((call, cohort) =>
      Effect.flatMap(corrections(call, cohort), (rows) =>
        Answer.csvParts(correctionCsv(rows), Files.header(Files.nameOf(call, "corrections.csv")))
      )
    ),
    exportCorrectionSheet: file(
      Effect.fnUntraced(function* (call, cohort) {
        const all = yield* corrections(call, cohort)
        const rows = yield* Stream.runCollect(Stream.take(all, rowsOfSheet + 1))
        if (rows.length > rowsOfSheet) return yield* tooLong
        return Files.sheet(yield* sheetOf(rows), Files.nameOf(call, "corrections.xlsx"))
      })
    )
  }
})
