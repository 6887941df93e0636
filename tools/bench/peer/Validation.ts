/**
 * A body against its schema and its rules, with everything that is wrong with it. What Ajv finds is
 * made unreadable before the rules run, so that a rule that needs it is skipped, and only then.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv"
import { addFields } from "./Fields.ts"
import type { FieldError } from "./Refusal.ts"
import { accountRequest, processRequest, transactionsRequest } from "./Schemas.ts"

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, ownProperties: true })
addFields(ajv)

type Path = ReadonlyArray<string | number>

interface Found {
  readonly path: Path
  readonly code: string
}

/** Reports what a rule found, at a path within the value that the rules are about. */
export type Report = (code: string, ...path: Path) => void

/** Thrown by reading what is itself invalid. */
class Unreadable extends Error {}

/** Runs a rule, unless it reads what is itself invalid. */
export const rule = (examine: () => void): void => {
  try {
    examine()
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
  }
}

const segmentsOf = (pointer: string): Path =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

const valueAt = (body: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, segment) => (value as Readonly<Record<string, unknown>> | null)?.[segment],
    body
  )

const typeCode = (type: unknown, value: unknown): string => {
  if (value === null) return "null"
  const types = [type].flat()
  if (types.includes("array")) return "not_a_list"
  return types.includes("object") ? "not_an_object" : "invalid_type"
}

const standardCodes: Readonly<Record<string, string>> = {
  additionalProperties: "unknown_field",
  maxItems: "max_length",
  maximum: "max_value",
  minimum: "min_value",
  required: "required"
}

const foundBy = (body: unknown, { instancePath, keyword, params }: ErrorObject): Found => {
  const at = segmentsOf(instancePath)
  const {
    additionalProperty,
    code,
    missingProperty,
    path = "",
    type
  } = params as {
    readonly [name: string]: string
  }
  if (keyword === "field") {
    return { path: [...at, ...path.split(".").slice(1)], code: code ?? "invalid" }
  }
  if (keyword === "type") return { path: at, code: typeCode(type, valueAt(body, at)) }
  const member = missingProperty ?? additionalProperty
  return {
    path: member === undefined ? at : [...at, member],
    code: standardCodes[keyword] ?? "invalid"
  }
}

/** What stands in a list that is too long is not examined. */
const withoutInsideLongLists = (all: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const long = all.filter(({ code }) => code === "max_length").map(({ path }) => path.join("/"))
  if (long.length === 0) return all
  return all.filter(({ path }) => !long.some((list) => path.join("/").startsWith(`${list}/`)))
}

const makeUnreadable = (body: unknown, path: Path): void => {
  const parent = valueAt(body, path.slice(0, -1))
  const name = path.at(-1)
  if (typeof parent !== "object" || parent === null || name === undefined) return
  Object.defineProperty(parent, name, {
    configurable: true,
    enumerable: true,
    get: () => {
      throw new Unreadable()
    }
  })
}

const errorOf =
  (wrapper: string | null) =>
  ({ code, path }: Found): FieldError => {
    const inside = wrapper !== null && path.length > 1 && path[0] === wrapper ? path.slice(1) : path
    const attr = path.length === 0 ? (wrapper ?? "non_field_errors") : inside.join(".")
    return { detail: `This breaks the rule ${code}.`, code, attr }
  }

const examined = (
  check: ValidateFunction,
  wrapper: string | null,
  body: unknown,
  rules: (value: never, report: Report) => void
): ReadonlyArray<FieldError> => {
  const found: Array<Found> = []
  if (!check(body)) {
    const errors = withoutInsideLongLists((check.errors ?? []).map((error) => foundBy(body, error)))
    found.push(...errors)
    for (const { code, path } of errors) if (code !== "unknown_field") makeUnreadable(body, path)
  }
  const root = wrapper === null ? [] : [wrapper]
  const report: Report = (code, ...path) => {
    const at = path.length === 0 ? ["non_field_errors"] : path
    found.push({ path: [...root, ...at], code })
  }
  rule(() => {
    const value = valueAt(body, root)
    if (typeof value === "object" && value !== null) rules(value as never, report)
  })
  return found.map(errorOf(wrapper))
}

const validator =
  <Value>(schema: object, wrapper: string | null) =>
  (
    check: ValidateFunction = ajv.compile(schema)
  ): ((
    body: unknown,
    rules: (value: Value, report: Report) => void
  ) => ReadonlyArray<FieldError>) =>
  (body, rules) =>
    examined(check, wrapper, body, rules)

/** An account, as far as it is read by name. Figures are numbers, amounts have two decimals. */
export interface Account extends Key {
  readonly unknown_occupier?: boolean
  readonly customers?: ReadonlyArray<{
    readonly family_name?: string
    readonly date_of_birth?: string
  }>
  readonly account_type?: string
  readonly sales_channel?: string
  readonly billing_address?: {
    readonly street_address?: string
    readonly structured_street_address?: object | null
  }
  readonly account_billing_options?: {
    readonly period_length?: string
    readonly period_start_day?: number
    readonly period_start_month?: number | null
    readonly use_industry_billing?: boolean
  }
  readonly notes?: ReadonlyArray<{
    readonly body?: string
    readonly document_paths?: ReadonlyArray<object>
    readonly created_at?: string
    readonly unpin_at?: string
  }>
  readonly ledgers?: ReadonlyArray<Ledger>
  readonly transfer_balance?: number
  readonly statements?: ReadonlyArray<{
    readonly statement_id: string
    readonly bill_period_from_date: string
    readonly bill_period_to_date: string
  }>
  readonly metadata?: ReadonlyArray<{ readonly key: string; readonly value: object }>
  readonly supply_addresses?: ReadonlyArray<{
    readonly supply_address1: string
    readonly supply_postcode: string
  }>
}

export interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

export interface Ledger {
  readonly ledger_code: string
  readonly last_statement_balance?: number
  readonly last_statement_closing_date?: string
  readonly ledger_balance?: number
  readonly current_statement_transactions?: ReadonlyArray<Transaction>
  readonly historical_statement_transactions?: ReadonlyArray<Transaction>
}

export interface Transaction {
  readonly transaction_id: string
  readonly transaction_date: string
  readonly amount: string
  readonly type: "CHARGE" | "CREDIT" | "PAYMENT" | "REPAYMENT" | "SUPPLY_CHARGE"
  readonly display_note?: string
  readonly payment_type?: string
  readonly reason?: string
  readonly product_code?: string
  readonly line_items?: ReadonlyArray<{
    readonly start_date: string
    readonly end_date: string
    readonly number_of_units: number
    readonly net_amount: number
    readonly price_per_unit?: number
    readonly units?: ReadonlyArray<number>
  }>
  readonly tax_items?: ReadonlyArray<{ readonly amount: number }>
}

export interface ProcessPayload extends Key {
  readonly operations_team_name: string
  readonly dry_run?: boolean
}

export const validateAccountRequest = validator<Account>(accountRequest, "payload")()
export const validateProcessRequest = validator<ProcessPayload>(processRequest, "payload")()
export const validateTransactionsRequest = validator<
  Key & { readonly transactions: ReadonlyArray<Transaction> }
>(transactionsRequest, null)()
