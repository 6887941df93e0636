/**
 * Validates with the domain library alone, and prints the rates per second of processor time: for
 * parsed accounts (`perSecond`), and for lines of a book as `data-import check` reads them
 * (`lines`, not with `--accounts`). After a second to warm up, each is the best of the given number
 * of whole seconds, since other work on the machine only slows it down.
 */
import { parseArgs } from "node:util"
import { Result } from "effect"
import { offlineBatch, validatingLine } from "@data-import/domain/batch-processing/LineValidation"
import { WireCode } from "@data-import/domain/organisation/Supplier"
import { finish } from "@data-import/domain/support/Steps"
import { domesticPayload, sampleTime } from "@data-import/domain/testing/samples"
import { put } from "@data-import/domain/testing/wire"
import { factsAt, validateUnknownAccount } from "@data-import/domain/validation/AccountValidation"

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: { accounts: { type: "boolean" } }
})
const seconds = Number(positionals[0] ?? 3)
const perTurn = 100

/** The processor time of this process, so that other processes do not affect the rates. */
const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

const rateOfOneSecond = (turn: () => void): number => {
  const began = cpuSeconds()
  let count = 0
  while (cpuSeconds() - began < 1) {
    for (let index = 0; index < perTurn; index++) turn()
    count += perTurn
  }
  return count / (cpuSeconds() - began)
}

const perSecondOf = (turn: () => void): number => {
  rateOfOneSecond(turn)
  return Math.round(Math.max(...Array.from({ length: seconds }, () => rateOfOneSecond(turn))))
}

const payload = domesticPayload()

const batch = offlineBatch(WireCode.make(payload.import_supplier), sampleTime)
const facts = factsAt(sampleTime)

const lineOf = (account: unknown) => Buffer.from(JSON.stringify(account))

const ofLine = (account: unknown, isSound = true) => {
  const bytes = lineOf(account)
  const check = () => {
    if (Result.isSuccess(finish(validatingLine(batch, bytes, facts))) !== isSound) {
      throw new Error("The line is judged otherwise")
    }
  }
  return { perSecond: perSecondOf(check), bytes: bytes.length }
}

const withoutDocuments = {
  ...payload,
  notes: payload.notes?.map(({ document_paths: _, ...note }) => note),
  statements: payload.statements?.map(({ statement_path: _, ...statement }) => statement)
}

const perSecond = perSecondOf(() => Result.getOrThrow(validateUnknownAccount(payload, sampleTime)))
const linesOf = () => ({
  sound: ofLine(payload),
  withoutDocuments: ofLine(withoutDocuments),
  faulty: ofLine(put(payload, "customers.0.date_of_birth", "1981-13-22"), false)
})
const lines = flags.accounts === true ? {} : { lines: linesOf() }
console.log(JSON.stringify({ perSecond, bytes: lineOf(payload).length, ...lines }))
