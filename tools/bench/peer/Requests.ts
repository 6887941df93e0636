/**
 * The bodies of requests, checked by Ajv with the schemas of the published document. Amounts of
 * transactions are normalised to the two decimals of the answers.
 */
import { readFileSync } from "node:fs"
import type { Account as AccountSchema } from "@data-import/domain/accounts/Account"
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js"
import { cents, twoDecimals } from "./Decimal.ts"
import { type FieldError, invalid } from "./Refusal.ts"

export interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

export type Account = typeof AccountSchema.Encoded
export type Ledger = NonNullable<Account["ledgers"]>[number]
export type Transaction = NonNullable<Ledger["current_statement_transactions"]>[number]

export interface ProcessPayload extends Key {
  readonly operations_team_name: string
}

export type Note = NonNullable<Account["notes"]>[number]

interface TransactionsRequest extends Key {
  readonly transactions: ReadonlyArray<Transaction>
}

const dayForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

const isDay = (text: string): boolean => {
  if (!dayForm.test(text)) return false
  const day = Number(text.slice(8))
  return day <= 28 || new Date(`${text}T00:00:00Z`).getUTCDate() === day
}

/**
 * Rewrites the `anyOf` of a number and a text with a pattern as one type, which Ajv checks faster.
 */
const withPlainDecimals = (_name: string, value: unknown): unknown => {
  const { anyOf } = (value ?? {}) as { readonly anyOf?: ReadonlyArray<Record<string, unknown>> }
  const [number, text] = anyOf ?? []
  const isDecimal = number?.["type"] === "number" && text?.["type"] === "string"
  return isDecimal && anyOf?.length === 2 ? { ...text, type: ["number", "string"] } : value
}

const document: unknown = JSON.parse(
  readFileSync(new URL("../openapi.json", import.meta.resolve("@data-import/api/Limits")), "utf8"),
  withPlainDecimals
)
const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  formats: {
    date: isDay,
    "date-time": (text) =>
      isDay(text.slice(0, 10)) &&
      /^.{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
    email: /^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/
  }
})
ajv.addSchema(document as object, "openapi.json")

/** The error in the words of Ajv. */
const fieldErrorOf = ({ instancePath, keyword, message = keyword }: ErrorObject): FieldError => ({
  detail: message,
  code: keyword,
  attr: instancePath.slice(1).replaceAll("/", ".") || "non_field_errors"
})

/** Checks bodies by a schema of the document; throws a refusal with this code. */
const checked = <Body>(schema: string, code: string) => {
  const validate = ajv.compile<Body>({ $ref: `openapi.json#/components/schemas/${schema}` })
  return (body: unknown): Body => {
    if (validate(body)) return body
    throw invalid(code, (validate.errors ?? []).map(fieldErrorOf))
  }
}

const withTwoDecimals = <A extends { readonly amount: unknown }>(transaction: A): A => ({
  ...transaction,
  amount: twoDecimals(cents(transaction.amount))
})

const accountRequest = checked<{ payload: Account }>("AccountRequest", "account_failed_validation")

export const accountIn = (body: unknown): Account => {
  const { payload } = accountRequest(body)
  if (payload.ledgers === undefined) return payload
  const ledgers = payload.ledgers.map((ledger) => {
    const copy: Record<string, unknown> = { ...ledger }
    const lists = ["current_statement_transactions", "historical_statement_transactions"] as const
    for (const list of lists) {
      if (ledger[list] !== undefined) copy[list] = ledger[list].map(withTwoDecimals)
    }
    return copy as unknown as Ledger
  })
  return { ...payload, ledgers }
}

const processRequest = checked<{ payload: ProcessPayload }>(
  "ProcessRequest",
  "account_failed_validation"
)

export const processIn = (body: unknown): ProcessPayload => processRequest(body).payload

const transactionsRequest = checked<TransactionsRequest>(
  "TransactionsRequest",
  "request_failed_validation"
)

export const transactionsIn = (body: unknown): TransactionsRequest => {
  const request = transactionsRequest(body)
  return { ...request, transactions: request.transactions.map(withTwoDecimals) }
}
