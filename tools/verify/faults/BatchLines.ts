/**
 * Lines of an IMPORT batch, each with the outcome of an undisturbed run. Some are faulty, some
 * repeat the account number of an earlier line, and some name an account that is staged already,
 * which is imported by single steps.
 */
import { domesticPayload } from "@data-import/domain/testing/samples"
import type { RandomSource } from "@data-import/testbed/RandomSource"

export interface SentLine {
  /** As it is sent, without the end of the line. */
  readonly text: string
  readonly outcome: "SUCCEEDED" | "ALREADY" | "FAILED"
  /** Of the error. */
  readonly code: string | null
  /** The number and the marker of the account that the line makes. */
  readonly account: { readonly number: string; readonly marker: string } | null
  /** Whether the account is staged before the batch. */
  readonly isStaged: boolean
}

const lineOf = (number: string, marker: string, values: object = {}): string => {
  const { import_supplier: _, ...rest } = domesticPayload()
  const own = { external_account_number: number, billing_customer_reference: marker }
  return JSON.stringify({ ...rest, ...own, ...values })
}

const failed = (text: string, code: string): SentLine => ({
  text,
  outcome: "FAILED",
  code,
  account: null,
  isStaged: false
})

const made = (number: string, isStaged: boolean): SentLine => ({
  text: lineOf(number, number),
  outcome: "SUCCEEDED",
  code: null,
  account: { number, marker: number },
  isStaged
})

type Kind = "new" | "staged" | "same" | "other" | "invalid" | "garbage"

/** The kinds of every twenty lines. The first one is not a repetition. */
const kinds: ReadonlyArray<Kind> = [
  ...Array.from({ length: 12 }, () => "new" as const),
  ...Array.from({ length: 3 }, () => "staged" as const),
  ...Array.from({ length: 2 }, () => "same" as const),
  "other",
  "invalid",
  "garbage"
]

/** Makes this many lines, whose account numbers begin with the prefix. */
export const linesOf = (
  random: RandomSource,
  prefix: string,
  count: number
): ReadonlyArray<SentLine> => {
  const numbers: Array<string> = []
  const own = (number: string): string => {
    numbers.push(number)
    return number
  }
  const lines: Array<SentLine> = []
  while (lines.length < count) {
    const number = `${prefix}-${lines.length + 1}`
    switch (kinds[lines.length % kinds.length]) {
      case "staged":
        lines.push(made(own(number), true))
        break
      case "same": {
        const earlier = random.pick(numbers)
        const text = lineOf(earlier, earlier)
        lines.push({ text, outcome: "ALREADY", code: null, account: null, isStaged: false })
        break
      }
      case "other": {
        const text = lineOf(random.pick(numbers), "another")
        lines.push(failed(text, "account_import_process_already_imported"))
        break
      }
      case "invalid": {
        const text = lineOf(number, number, { customers: "none" })
        lines.push(failed(text, "account_failed_validation"))
        break
      }
      case "garbage":
        lines.push(failed(`{"external_account_number": "${number}"`, "parse_error"))
        break
      default:
        lines.push(made(own(number), false))
    }
  }
  return lines
}

/** The marker of accounts that are staged before a batch. */
export const markerBefore = "staged before"

/** Lines that stage the accounts that must be staged before the batch. */
export const stagedBefore = (lines: ReadonlyArray<SentLine>): ReadonlyArray<SentLine> =>
  lines.flatMap(({ account, isStaged }) =>
    account === null || !isStaged
      ? []
      : [{ ...made(account.number, false), text: lineOf(account.number, markerBefore) }]
  )
