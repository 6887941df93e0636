/**
 * Which answers of the published document the tests of a run have seen: every status of every
 * operation, every code that the document gives it there, and every field code somewhere. Each
 * process of the run adds what it sees to a file of its own in the folder that `CONTRACT_COVERAGE_DIR`
 * names; without the variable nothing is kept.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { knownValues } from "../src/ExtensibleResponses.ts"
import { type Answered, type Asked, document, operationOf } from "./ResponseCheck.ts"

type Json = { readonly [name: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const fieldErrorsOf = (body: Json): ReadonlyArray<unknown> => listOf(body["errors"])

/** The codes of an answer: of the request, and of a refusal in GraphQL. */
const codesOf = (body: Json): ReadonlyArray<string> =>
  [body["code"], ...fieldErrorsOf(body).map((error) => graphqlCode(error))].filter(
    (code) => typeof code === "string"
  )

const graphqlCode = (error: unknown): unknown =>
  isObject(error) && isObject(error["extensions"]) ? error["extensions"]["errorCode"] : undefined

const place = (operation: string, status: number | string, code?: string): string =>
  code === undefined ? `${operation} ${status}` : `${operation} ${status} ${code}`

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Where = Pick<Asked, "method" | "path">
type What = Pick<Answered, "status" | "text">

/** Where the answer to a method or path stands that the document does not have. */
const noOperation = "undocumented"

/** What of the document an answer shows. */
export const coveredBy = (asked: Where, { status, text }: What): ReadonlyArray<string> => {
  const operation = operationOf(asked) ?? noOperation
  // No long answer has a code.
  const body = text.length > 100_000 ? undefined : parsed(text)
  if (!isObject(body)) return [place(operation, status)]
  const fields = fieldErrorsOf(body).flatMap((error) =>
    isObject(error) && typeof error["code"] === "string" ? [`field ${error["code"]}`] : []
  )
  const codes = codesOf(body).map((code) => place(operation, status, code))
  return [place(operation, status), ...codes, ...fields]
}

const folder = process.env["CONTRACT_COVERAGE_DIR"]
const kept = new Set<string>()

/** Keeps what is new about an answer that kept the contract. */
export const recordCoverage = (asked: Where, answered: What): void => {
  if (folder === undefined) return
  for (const entry of coveredBy(asked, answered)) {
    if (kept.has(entry)) continue
    kept.add(entry)
    appendFileSync(join(folder, `${process.pid}.txt`), `${entry}\n`)
  }
}

/** What a pointer of the document leads to. */
const resolved = (value: unknown): unknown => {
  if (!isObject(value) || typeof value["$ref"] !== "string") return value
  const steps = value["$ref"].slice(2).split("/")
  return steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), document)
}

const fieldError = "#/components/schemas/FieldError"

/** The values that members of this name may have anywhere in a schema, field errors left out. */
const allowed = (schema: unknown, name: string): ReadonlyArray<string> => {
  if (isObject(schema) && schema["$ref"] === fieldError) return []
  const at = resolved(schema)
  if (Array.isArray(at)) return at.flatMap((inner) => allowed(inner, name))
  if (!isObject(at)) return []
  const properties = isObject(at["properties"]) ? at["properties"] : {}
  const own = resolved(properties[name])
  const values = isObject(own) ? [...listOf(own[knownValues]), own["const"]] : []
  const inside = [...Object.values(properties), at["items"], ...listOf(at["anyOf"])]
  return [
    ...values.filter((value) => typeof value === "string"),
    ...inside.flatMap((inner) => allowed(inner, name))
  ]
}

/** A defect answers so, and fails whatever test sees it. */
const isDefect = (status: string, code: string): boolean => status === "500" && code === "error"

const ofResponse = (
  operation: string,
  status: string,
  response: unknown
): ReadonlyArray<string> => {
  const at = resolved(response)
  const content = isObject(at) && isObject(at["content"]) ? at["content"]["application/json"] : {}
  const schema = isObject(content) ? content["schema"] : undefined
  const codes = [...allowed(schema, "code"), ...allowed(schema, "errorCode")]
  const isRefusal = Number(status) >= 400
  return [
    ...(isRefusal ? [] : [place(operation, status)]),
    ...codes.filter((code) => !isDefect(status, code)).map((code) => place(operation, status, code))
  ]
}

const fieldCodes = (): ReadonlyArray<string> => {
  const schema = resolved({ $ref: fieldError })
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {}
  const code = resolved(properties["code"])
  return isObject(code) ? listOf(code[knownValues]).map((value) => `field ${String(value)}`) : []
}

/** Everything that the document says can be answered. */
const described = (): ReadonlyArray<string> => [
  ...Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, response]) =>
        ofResponse(`${method} ${template}`, status, response)
      )
    )
  ),
  ...fieldCodes()
]

/** What the document describes and no process that wrote to this folder has covered. */
export const uncoveredAnswers = (covered: string): ReadonlyArray<string> => {
  const seen = new Set(
    readdirSync(covered).flatMap((file) => readFileSync(join(covered, file), "utf8").split("\n"))
  )
  return [...new Set(described())].filter((entry) => !seen.has(entry))
}
