/**
 * The published document as the fuzzer reads it: the operations, their bodies, and the statuses and
 * codes of their answers.
 */
import { knownValues } from "@data-import/api/ExtensibleResponses"
import { readFileSync } from "node:fs"
import { get, isWire, type Wire } from "@data-import/domain/testing/wire"

/** A part of the document that describes a value. */
export type Schema = Wire

const methods = ["GET", "POST", "PUT", "PATCH"] as const

export interface Operation {
  /** Its `operationId`. */
  readonly id: string
  readonly method: (typeof methods)[number]
  /** The path with its parameters in braces. */
  readonly template: string
  /** The schema of the JSON body; null if there is none. */
  readonly body: Schema | null
  /** Whether the body is NDJSON. */
  readonly takesLines: boolean
  /** Every documented status with its codes; none for a success. */
  readonly answers: ReadonlyMap<number, ReadonlyArray<string>>
}

const file = new URL("../openapi.json", import.meta.resolve("@data-import/api/Limits"))

const document: unknown = JSON.parse(readFileSync(file, "utf8"))

/** The schema, or what it refers to. */
export const resolved = (schema: unknown): Schema => {
  const reference = get(schema, "$ref")
  if (typeof reference === "string") return resolved(get(document, reference.slice(2).split("/")))
  return isWire(schema) ? schema : {}
}

const listAt = (schema: unknown, name: string): ReadonlyArray<unknown> => {
  const list = get(schema, [name])
  return Array.isArray(list) ? list : []
}

const codesIn = (schema: unknown): ReadonlyArray<string> => {
  const known = resolved(schema)
  const own = listAt(resolved(get(known, ["properties", "code"])), knownValues).map(String)
  return [...own, ...listAt(known, "anyOf").flatMap(codesIn)]
}

const bodySchema = ["content", "application/json", "schema"]

const answersOf = (described: unknown): ReadonlyMap<number, ReadonlyArray<string>> =>
  new Map(
    Object.entries(resolved(get(described, "responses"))).map(([status, answer]) => [
      Number(status),
      Number(status) < 400 ? [] : codesIn(get(resolved(answer), bodySchema))
    ])
  )

const methodOf = (name: string): Operation["method"] => {
  const method = name.toUpperCase()
  const known = methods.find((each) => each === method)
  if (known !== undefined) return known
  throw new Error(`The fuzzer does not know the method ${method}`)
}

const lines = "application/x-ndjson"

const operationOf = (template: string, method: string, described: unknown): Operation => {
  const content = resolved(get(described, ["requestBody", "content"]))
  const schema = get(content, ["application/json", "schema"])
  return {
    id: String(get(described, "operationId")),
    method: methodOf(method),
    template,
    body: schema === undefined ? null : resolved(schema),
    takesLines: Object.hasOwn(content, lines),
    answers: answersOf(described)
  }
}

/** Every operation of the document. */
export const operations: ReadonlyArray<Operation> = Object.entries(
  resolved(get(document, "paths"))
).flatMap(([template, methods]) =>
  Object.entries(resolved(methods)).map(([method, described]) =>
    operationOf(template, method, described)
  )
)

/**
 * The operation of this name.
 * @throws when the document has none.
 */
export const operation = (id: string): Operation => {
  const found = operations.find((it) => it.id === id)
  if (found === undefined) throw new Error(`The document has no operation ${id}`)
  return found
}

/** Whether another operation is at the same path with this method. */
const isOfAnother = (asked: Operation, method: string): boolean =>
  operations.some(
    (other) =>
      other !== asked &&
      other.template === asked.template &&
      other.method === (method === "HEAD" ? "GET" : method)
  )

/** Each operation with each method, except those of another operation. */
export const withEachMethod = (
  methods: ReadonlyArray<string>
): ReadonlyArray<{ readonly operation: Operation; readonly method: string }> =>
  operations.flatMap((operation) =>
    methods
      .filter((method) => !isOfAnother(operation, method))
      .map((method) => ({ operation, method }))
  )

/** The path with a smaller limit of bodies. */
export const tokenPath = operation("obtainServiceToken").template

const isNamed = (template: string, path: string): boolean => {
  const expected = template.split("/")
  const sent = path.split("/")
  return (
    expected.length === sent.length &&
    expected.every((part, index) =>
      part.startsWith("{") ? sent[index] !== "" : part === sent[index]
    )
  )
}

/** The operation of a request with this method and target, if any. */
export const operationAt = (method: string, target: string): Operation | undefined => {
  const [path = ""] = target.split("?", 1)
  const asked = method === "HEAD" ? "GET" : method
  return operations.find((it) => it.method === asked && isNamed(it.template, path))
}

/** Every code that an error object can have. */
export const fieldCodes: ReadonlyArray<string> = listAt(
  resolved(get(document, ["components", "schemas", "FieldErrorCode"])),
  knownValues
).map(String)
