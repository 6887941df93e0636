/**
 * Past statements: those of the account payload, and the more detailed ones of the historical
 * statements import. Both share the same ids.
 * Source: docs/contract/account.md#statement, docs/contract/post-import.md#historical-statement.
 */
import { Schema } from "effect"
import { Money } from "../schema/Decimal.ts"
import { DocumentPath, documentExists } from "../schema/DocumentPath.ts"
import { CalendarDate, nonBlankText, text } from "../schema/Field.ts"
import { repeated, type Rule, type RuleSet, sentTwice, validValues } from "../schema/Rules.ts"

export const StatementId = nonBlankText(128).pipe(Schema.brand("StatementId"))
export type StatementId = typeof StatementId.Type

export const Statement = Schema.Struct({
  bill_period_from_date: CalendarDate,
  bill_period_to_date: CalendarDate,
  statement_path: Schema.optionalKey(DocumentPath),
  statement_id: StatementId
})
export type Statement = typeof Statement.Type

/** `gross_amount` is money. */
export const HistoricalStatement = Schema.Struct({
  bill_period_from_date: CalendarDate,
  bill_period_to_date: CalendarDate,
  statement_id: StatementId,
  issued_date: Schema.optionalKey(CalendarDate),
  number: Schema.optionalKey(text(64)),
  gross_amount: Schema.optionalKey(Money),
  statement_path: Schema.optionalKey(DocumentPath)
})
export type HistoricalStatement = typeof HistoricalStatement.Type

const periodIsForward: Rule<Statement> = (statement, _facts, report) => {
  if (statement.bill_period_from_date > statement.bill_period_to_date) {
    report("start_date_later_than_end_date", "The bill period ends before it starts.")
  }
}

export const statementRules: RuleSet<Statement> = {
  rules: [periodIsForward, documentExists("statement_path")]
}

/** A statement id may occur once in a request or payload. */
export const statementIdsAreUnique: Rule<{
  readonly statements?: ReadonlyArray<{ readonly statement_id: StatementId }>
}> = ({ statements }, _facts, report) => {
  const twice = repeated(validValues(statements ?? [], (statement) => statement.statement_id))
  if (twice.length > 0) {
    report("duplicate_statement_ids", sentTwice(twice), "statements")
  }
}
