/**
 * Masks personal data until a user reveals it. Only values known to be harmless are shown: closed
 * lists, amounts, dates other than that of birth, and the codes and ids below. Any other text is
 * reduced to its first character and its length.
 * Source: docs/contract/board.md#masks.
 */
import type { SchemaAST } from "effect"
import { Account } from "../accounts/Account.ts"
import { fieldNames, isDocumented } from "../accounts/FieldNames.ts"
import { type Code, registry } from "../codes/Code.ts"
import { CalendarDate } from "../schema/Field.ts"
import { isObject } from "../schema/Json.ts"
import { invalid } from "../schema/LeafDecoder.ts"
import { isRawNumber } from "../schema/RawNumber.ts"
import { type LeafNode, schemaTreeOf, type SchemaTree } from "../schema/SchemaTree.ts"

/** Fields whose texts are no personal data. */
const harmless: ReadonlySet<string> = new Set([
  "import_supplier",
  "external_account_number",
  "country",
  "ledger_code",
  "operations_team_name",
  "payment_type",
  "product_code",
  "rate_band",
  "sales_channel",
  "sales_subchannel",
  "statement_id",
  "tax_type",
  "transaction_id"
])

const personalDates: ReadonlySet<string> = new Set(["date_of_birth"])

/** The first character and the length; an empty text stays empty. */
export const maskedText = (text: string): string => {
  const [first, ...rest] = text
  return first === undefined ? "" : `${first}… (${rest.length + 1} characters)`
}

const extension = /\.[a-z\d]{1,5}$/i

/** The path of a document, masked up to the file extension. */
export const maskedDocument = (path: string): string =>
  `${maskedText(path)}${extension.exec(path)?.[0] ?? ""}`

const hidden = "…"

/** Whether values of the type tell nothing about a person: a number, a choice, a time. */
const isClosed = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "Literal":
    case "Boolean":
    case "Number":
    case "Null":
    case "Declaration":
      return true
    case "Union":
      return ast.types.every(isClosed)
    default:
      return false
  }
}

const isShown = ({ read, schema }: LeafNode, name: string, value: unknown): boolean => {
  if (personalDates.has(name)) return false
  const isHarmless = isClosed(schema.ast) || schema === CalendarDate || harmless.has(name)
  return isHarmless && read(value) !== invalid
}

/** Masks everything in a value that the schema does not know. */
const maskedWhole = (value: unknown): unknown => {
  if (value === null) return null
  if (typeof value === "string") return maskedText(value)
  if (Array.isArray(value)) return `${hidden} (${value.length} elements)`
  if (isObject(value) && !isRawNumber(value))
    return `${hidden} (${Object.keys(value).length} members)`
  return hidden
}

const maskedIn = (tree: SchemaTree, name: string, value: unknown): unknown => {
  if (value === null) return null
  if (tree._tag === "Struct" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => {
        const node = tree.fields.get(member)?.node
        return node === undefined
          ? [maskedText(member), maskedWhole(inner)]
          : [member, maskedIn(node, member, inner)]
      })
    )
  }
  if (tree._tag === "List" && Array.isArray(value)) {
    return value.map((element) => maskedIn(tree.element, name, element))
  }
  return tree._tag === "Leaf" && isShown(tree, name, value) ? value : maskedWhole(value)
}

const accountTree = schemaTreeOf(Account)

/** The staged account with personal data masked. A value that is no account is masked whole. */
export const maskedAccount = (account: unknown): unknown => maskedIn(accountTree, "", account)

/** A path whose unknown names are masked, because the client chose them. */
export const maskedPath = (attr: string): string =>
  attr
    .split(".")
    .map((segment) => (isDocumented(segment) ? segment : maskedText(segment)))
    .join(".")

const isCode = (text: string): text is Code => Object.hasOwn(registry, text)

/** Whether a word is plain text, an amount, a date or a field name; any other may be sent data. */
const isOfDetail = (word: string, index: number): boolean => {
  const bare = word.replaceAll(/^[("]+|[).,:;"]+$/g, "")
  const isWord = index === 0 ? /^[A-Za-z]?[a-z]*$/.test(bare) : /^(?:[a-z]*|[A-Z])$/.test(bare)
  return isWord || /^-?\d[\d.,:TZ-]*$/.test(bare) || fieldNames.has(bare)
}

/**
 * The detail of an error without values that were sent. If it may repeat some, the meaning of the
 * code takes its place.
 */
export const maskedDetail = (code: string, detail: string | undefined): string => {
  const meaning = isCode(code) ? registry[code].meaning : code
  if (detail === undefined || code.includes("duplicate_") || /["'`]/.test(detail)) return meaning
  return detail.split(" ").every(isOfDetail) ? detail : meaning
}

/** The masked detail of an error, and its day if another day may decide otherwise. */
export const maskedError = (
  code: string,
  detail: string | null | undefined,
  businessDay: string | undefined
) => ({
  detail: maskedDetail(code, detail ?? undefined),
  business_day: businessDay ?? null
})
