/**
 * Control totals in a file: the JSON of `certify --json`, the JSON of a request, or a CSV that
 * somebody wrote by hand, with the columns `ledger_code`, `accounts` and `balance`. Its row without
 * a ledger code has the accounts and the balance of all.
 */
import { extname } from "node:path"
import { DateTime, Effect, Result } from "effect"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import { controlTotalsRequest, totalsBody } from "@data-import/domain/migrations/ControlTotals"
import { isObject } from "@data-import/domain/schema/Json"
import { Refused } from "@data-import/terminal/Refused"
import { cellsOf } from "../book/CsvRows.ts"
import { readText } from "../book/TextFile.ts"
import { reasonOf } from "../Reason.ts"

const columns = ["ledger_code", "accounts", "balance"]

const refuse = (why: string) => new Refused({ why })

/** The rows by column, the first one being the header. */
const rowsIn = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "")
  const delimiter = (lines[0] ?? "").includes(";") ? ";" : ","
  const rows = lines.map((line) => (cellsOf(line, delimiter) ?? []).map((cell) => cell.trim()))
  const [header = [], ...others] = rows
  const unknown = header.find((name) => !columns.includes(name))
  if (header.length === 0 || unknown !== undefined) {
    throw new Error(`its columns are ${columns.join(", ")}, and not ${unknown ?? "none"}`)
  }
  return others.map((cells, at) => {
    if (cells.length !== header.length) throw new Error(`row ${at + 2} has other columns`)
    return Object.fromEntries(header.map((name, column) => [name, cells[column] ?? ""]))
  })
}

const fromCsv = (text: string): unknown => {
  const rows = rowsIn(text)
  const wholes = rows.filter(({ ledger_code = "" }) => ledger_code === "")
  const ledgers = rows.filter(({ ledger_code = "" }) => ledger_code !== "")
  const [whole] = wholes
  if (whole === undefined || wholes.length > 1) {
    throw new Error("it needs one row without a ledger_code, which has the accounts of all")
  }
  const { accounts = "", balance = "" } = whole
  return {
    accounts: /^\d+$/.test(accounts) ? Number(accounts) : accounts,
    ...(balance !== "" && { balance }),
    ...(ledgers.length > 0 && {
      ledger_balances: ledgers.map(({ balance, ledger_code }) => ({ ledger_code, balance }))
    })
  }
}

interface Meant {
  readonly supplier: string
  readonly cohort: string | null
}

/** Fails for the sums of another supplier or cohort, and for those that lack lines. */
const fromJson = (text: string, { cohort, supplier }: Meant): unknown => {
  const read: unknown = JSON.parse(text)
  if (!isObject(read)) return read
  if (!isObject(read["control_totals"])) return read["expected"] ?? read
  const [of, group] = [read["import_supplier"], read["cohort"]]
  if (of !== supplier || group !== cohort) {
    throw new Error(`it has the sums of ${String(of)}, cohort ${String(group)}`)
  }
  const failed = Number(read["failed_lines"])
  if (failed > 0) throw new Error(`${failed} lines of the book failed, and are in no sum`)
  return read["control_totals"]
}

/** The totals as they are sent. */
export const readTotals = Effect.fnUntraced(function* (file: string, meant: Meant) {
  const expected = yield* Effect.try({
    try: () => {
      const text = readText(file)
      return extname(file).toLowerCase() === ".csv" ? fromCsv(text) : fromJson(text, meant)
    },
    catch: (error) => refuse(`Cannot take totals from ${file}: ${reasonOf(error)}.`)
  })
  const facts = factsAt(yield* DateTime.now)
  const valid = controlTotalsRequest.validate({ expected }, facts)
  if (Result.isFailure(valid)) {
    const errors = valid.failure.map(({ attr, code, detail }) => `${attr}: ${code}. ${detail}`)
    return yield* refuse(`${file} has no valid totals. ${errors.join(" ")}`)
  }
  const { expected: totals } = valid.success
  if (totals === undefined) return {}
  const { accounts, balance, ledger_balances } = totalsBody(totals)
  return {
    expected: {
      accounts,
      ...(balance !== null && { balance }),
      ...(ledger_balances !== null && { ledger_balances })
    }
  }
})
