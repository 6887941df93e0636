/** Lists of all accounts: their balances, and what the supplier has to correct. */
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { AccountLists, type CorrectionFilter } from "@data-import/domain/board/AccountLists"
import { correctionCsv } from "@data-import/domain/board/CorrectionFile"
import { registry } from "@data-import/domain/codes/Code"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { missingDocument } from "@data-import/domain/migrations/SupplierSummary"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import {
  append,
  begun,
  endOf,
  finish,
  linesOf,
  start,
  taken
} from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import { begin, boardLayer, complete, fail, type Owner, stage } from "./boardPrograms.ts"

const requestId = RequestId.make("request-of-the-board")

/** A batch whose lines were refused with this error. */
const refuse = Effect.fnUntraced(function* (owner: Owner, numbers: ReadonlyArray<string | null>) {
  const batch = yield* begun({ of: owner, cohort: "wave-1" })
  yield* append(batch, linesOf(...numbers))
  yield* start(batch, numbers.length)
  const chunk = yield* Effect.repeat(taken(noon), { until: ({ batch: { id } }) => id === batch.id })
  const errors = [{ code: "blank", attr: "ledgers.0.transactions.1.amount", detail: "Is blank." }]
  const text = JSON.stringify({ error: { code: "request_failed_validation", errors } })
  yield* finish(
    chunk,
    chunk.lines.map((line) => ({ ...endOf("FAILED")(line), text }))
  )
  return batch.id
}, Effect.scoped)

layer(boardLayer, { excludeTestServices: true })("lists of all accounts", (it) => {
  it.effect("have the balances, and erased accounts as one amount", () =>
    Effect.gen(function* () {
      const { balances } = yield* AccountLists
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      const csv = (cohort: string | null) =>
        Effect.flatMap(
          balances({ user, requestId }, code, cohort === null ? {} : { cohort }),
          Stream.mkString
        )
      const head =
        "external_account_number,kraken_account_number,state,cohort,account_created_at,balance\r\n"
      expect(yield* csv(null)).toBe(head)
      const formula = "=1+1"
      const numbers = [formula, "a", "b", "c"]
      yield* stage(mine, numbers, "wave-1")
      yield* stage(mine, ["pending"])
      const accounts: Array<string> = []
      for (const number of numbers) accounts.push((yield* complete(mine, number)).number)
      const erasing = yield* Erasures
      for (const number of ["a", "b"]) yield* erasing.erase({ key: mine.keyOf(number), at: noon })
      const rows = [
        `'=1+1,${accounts[0]},IMPORTED,wave-1,2026-01-01T12:00:00Z,50.00`,
        `c,${accounts[3]},IMPORTED,wave-1,2026-01-01T12:00:00Z,50.00`,
        ",,ERASED,,,100.00"
      ]
      const text = head + rows.map((row) => `${row}\r\n`).join("")
      expect(yield* csv(null)).toBe(text)
      expect(yield* csv("wave-1")).toBe(text)
      expect(yield* csv("wave-2")).toBe(head)
    })
  )

  it.effect("name what is to be corrected in failed accounts and refused lines", () =>
    Effect.gen(function* () {
      const { corrections } = yield* AccountLists
      const { mine, user } = yield* begin
      const { code } = mine.supplier
      const csv = (filter: CorrectionFilter) =>
        corrections({ user, requestId }, code, filter).pipe(
          Effect.flatMap((rows) => Stream.mkString(correctionCsv(rows)))
        )
      const payload = JSON.stringify({ statements: [{ statement_path: "2026/bill.pdf" }] })
      yield* stage(mine, ["a"], "wave-1", payload)
      yield* stage(mine, ["b", "pending"])
      const attr = "statements.0.statement_path"
      yield* fail(mine, "a", [
        { code: missingDocument, attr },
        { code: "blank", attr: "billing_name" }
      ])
      yield* fail(mine, "b", [])
      const batch = yield* refuse(mine, ["c", null, "pending"])
      const rows = (yield* csv({})).trimEnd().split("\r\n")
      const [head] = rows
      expect(rows.slice(1).map((row) => row.replaceAll(/"[^"]*"/g, "…"))).toEqual([
        `a,,,…,…,…,2026/bill.pdf,${attr},${missingDocument}`,
        "a,,,Billing name,…,Omit the field or give it a value.,,billing_name,blank",
        `b,,,The account as a whole,…,${registry.account_failed_validation.remedy},,non_field_errors,account_failed_validation`,
        ...["c", ""].map(
          (number, at) =>
            `${number},${batch},${at + 1},…,Is blank.,Omit the field or give it a value.,,ledgers.0.transactions.1.amount,blank`
        )
      ])
      expect((yield* csv({ cohort: "wave-1" })).split("\r\n")).toHaveLength(6)
      expect(yield* csv({ cohort: "wave-2" })).toBe(`${head}\r\n`)
      expect(yield* csv({ code: missingDocument })).toBe(`${head}\r\n${rows[1]}\r\n`)
      const ofBatch = (yield* csv({ batch_id: batch })).trimEnd().split("\r\n")
      expect(ofBatch.slice(0, -1)).toEqual([head, ...rows.slice(4)])
      expect(ofBatch.at(-1)).toMatch(new RegExp(`^pending,${batch},3,`))
      expect(yield* Effect.flip(csv({ batch_id: batch, cohort: "wave-1" }))).toMatchObject({
        code: "request_failed_validation",
        errors: [{ attr: "cohort" }]
      })
      const other = yield* refuse((yield* begin).mine, ["d"])
      expect(yield* Effect.flip(csv({ batch_id: other }))).toMatchObject({ _tag: "NotFound" })
    })
  )
})
