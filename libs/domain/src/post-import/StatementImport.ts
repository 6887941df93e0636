/**
 * Decides which historical statements of a request are new to the account. A known one with the
 * same content changes nothing, so that a retry is safe. A known one with other content fails the
 * request. `isNew` if any is added.
 * Source: docs/contract/post-import.md#create-historical-statements,
 * docs/contract/post-import.md#same-statements.
 */
import type { FoundDocuments } from "../account/StoredDocument.ts"
import { BigDecimal, Result } from "effect"
import {
  type AccountStatement,
  type AccountView,
  noChange,
  type Decision
} from "../account/AccountChange.ts"
import { relativePath } from "../schema/DocumentPath.ts"
import { ValidationFailed } from "../requests/Failure.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { HistoricalStatement } from "../account/Statement.ts"

type Field = keyof HistoricalStatement

/**
 * The fields of both kinds of statement. The others are compared only if both kinds could have
 * them.
 */
const commonFields: ReadonlyArray<Field> = [
  "bill_period_from_date",
  "bill_period_to_date",
  "statement_path"
]

const ownFields: ReadonlyArray<Field> = ["issued_date", "number", "gross_amount"]

const comparable = (value: HistoricalStatement[Field], field: Field): unknown => {
  if (value === undefined) return null
  if (BigDecimal.isBigDecimal(value)) return BigDecimal.format(BigDecimal.normalize(value))
  return field === "statement_path" ? relativePath(value) : value
}

const isSame = (sent: HistoricalStatement, { origin, statement }: AccountStatement): boolean =>
  (origin === "account_payload" ? commonFields : [...commonFields, ...ownFields]).every(
    (field) => comparable(sent[field], field) === comparable(statement[field], field)
  )

/** Adds the new statements. Fails with an error for each one that is known with other content. */
export const decideStatements =
  (sent: ReadonlyArray<HistoricalStatement>, documents: FoundDocuments) =>
  (
    account: AccountView
  ): Result.Result<Decision<{ readonly isNew: boolean }>, ValidationFailed> => {
    const errors = sent.flatMap((statement, index): ReadonlyArray<FieldError> => {
      const there = account.statements.get(statement.statement_id)
      if (there === undefined || isSame(statement, there)) return []
      const detail = "The account has a statement of this id with other content."
      return [{ attr: `statements.${index}`, code: "historical_statement_already_exists", detail }]
    })
    if (errors.length > 0) {
      return Result.fail(new ValidationFailed({ code: "request_failed_validation", errors }))
    }
    const statements = sent.filter(({ statement_id }) => !account.statements.has(statement_id))
    const change = { ...noChange(account), statements, documents }
    return Result.succeed({ change, answer: { isNew: statements.length > 0 } })
  }
