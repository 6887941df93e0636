/**
 * Decides which historical statements of a request are new to the account, and which complete a
 * known one. A known one that lacks nothing of what is sent stays as it is, so that a retry is
 * safe. One with another value in a field fails the request.
 * Source: docs/contract/post-import.md#create-historical-statements,
 * docs/contract/post-import.md#same-statements.
 */
import type { FoundDocuments } from "../accounts/StoredDocument.ts"
import { BigDecimal, Result } from "effect"
import { type AccountView, noChange, type Decision } from "../accounts/AccountChange.ts"
import { relativePath } from "../schema/DocumentPath.ts"
import { validationFailed, type ValidationFailed } from "../requests/Failure.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { HistoricalStatement } from "../accounts/Statement.ts"

type Field = keyof HistoricalStatement

const fields = Object.keys(HistoricalStatement.fields) as ReadonlyArray<Field>

const comparable = (value: HistoricalStatement[Field], field: Field): unknown => {
  if (BigDecimal.isBigDecimal(value)) return BigDecimal.format(BigDecimal.normalize(value))
  return field === "statement_path" && value !== undefined ? relativePath(value) : value
}

/** Whether both have the field, with different values. */
const contradicts =
  (sent: HistoricalStatement, there: HistoricalStatement) =>
  (field: Field): boolean =>
    sent[field] !== undefined &&
    there[field] !== undefined &&
    comparable(sent[field], field) !== comparable(there[field], field)

/**
 * Adds the new statements, and what the known ones lack. Fails with an error for each one that
 * contradicts a known one. `isNew` if anything is stored.
 */
export const decideStatements =
  (sent: ReadonlyArray<HistoricalStatement>, documents: FoundDocuments) =>
  (
    account: AccountView
  ): Result.Result<Decision<{ readonly isNew: boolean }>, ValidationFailed> => {
    const errors: Array<FieldError> = []
    const statements: Array<HistoricalStatement> = []
    const completedStatements: Array<HistoricalStatement> = []
    for (const [index, statement] of sent.entries()) {
      const there = account.statements.get(statement.statement_id)
      if (there === undefined) {
        statements.push(statement)
      } else if (fields.some(contradicts(statement, there.statement))) {
        const detail = "The account has a statement of this id with other content."
        const code = "historical_statement_already_exists"
        errors.push({ attr: `statements.${index}`, code, detail })
      } else if (fields.some((field) => field in statement && !(field in there.statement))) {
        const completed = { ...statement, ...there.statement }
        const list = there.origin === "account_payload" ? statements : completedStatements
        list.push(completed)
      }
    }
    if (errors.length > 0) {
      return Result.fail(validationFailed("request_failed_validation", errors))
    }
    const change = { ...noChange(account), statements, completedStatements, documents }
    const isNew = statements.length + completedStatements.length > 0
    return Result.succeed({ change, answer: { isNew } })
  }
