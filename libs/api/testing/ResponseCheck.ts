/**
 * Holds an answer to the published contract: the status and body that `openapi.json` gives the
 * operation, a code of the registry with its one status, and the headers that belong to it. It
 * reads the committed document and never the definitions that the services are made of, so that a
 * service and its own description cannot agree on a mistake unnoticed.
 */
import { readFileSync } from "node:fs"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { registry } from "@data-import/domain/codes/Code"
import { knownValues } from "../src/ExtensibleResponses.ts"
import { statusOf } from "../src/StatusOfCode.ts"

/** What was asked; header names in lower case. */
export interface Asked {
  readonly method: string
  /** As it stood in the request line, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** What was answered; header names in lower case. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

type Json = { readonly [name: string]: unknown }

interface Operation {
  readonly responses: Readonly<Record<string, Json>>
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

/** The committed document. */
export const document = JSON.parse(
  readFileSync(new URL("../openapi.json", import.meta.url), "utf8")
) as Json & { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

/**
 * The document with its answers closed: clients must accept new fields and values, but a service
 * may not answer with one that is not documented.
 */
export const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (!isObject(value)) return value
  const { [knownValues]: values, ...rest } = value
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, closed(part)])),
    ...(values !== undefined && { enum: values }),
    ...(isObject(value["properties"]) && value["additionalProperties"] === undefined
      ? { additionalProperties: false }
      : {})
  }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(closed(document) as object, "openapi.json")

const validators = new Map<string, ValidateFunction>()

/** The validator of the schema at a JSON pointer of the document. */
const validatorAt = (pointer: string): ValidateFunction => {
  const known = validators.get(pointer)
  if (known !== undefined) return known
  const made = ajv.compile({ $ref: `openapi.json#${pointer}` })
  validators.set(pointer, made)
  return made
}

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))

const places = Object.keys(document.paths).map((template) => ({
  template,
  segments: template.split("/")
}))

/** A HEAD is described as a GET. */
const methodOf = (method: string): string => (method === "HEAD" ? "get" : method.toLowerCase())

const isNamed = (path: string) => {
  const sent = path.split("/")
  return ({ segments }: { readonly segments: ReadonlyArray<string> }) =>
    segments.length === sent.length &&
    segments.every((segment, index) =>
      segment.startsWith("{") ? sent[index] !== "" : segment === sent[index]
    )
}

const templateOf = (path: string): string | undefined => places.find(isNamed(path))?.template

/** The operation that was asked, like `post /v1/graphql/`; undefined where there is none. */
export const operationOf = ({
  method,
  path
}: Pick<Asked, "method" | "path">): string | undefined => {
  const template = templateOf(path.split("?", 1)[0] ?? "")
  const name = methodOf(method)
  return template !== undefined && document.paths[template]?.[name] !== undefined
    ? `${name} ${template}`
    : undefined
}

/** Where the document describes this answer; undefined where it does not. */
const describedAt = (template: string, method: string, status: number): string | undefined => {
  const operation = document.paths[template]?.[method]
  if (operation === undefined || status === 405) {
    return status === 405 ? "/components/responses/MethodNotAllowed" : undefined
  }
  const response = operation.responses[String(status)]
  if (response === undefined) return undefined
  return typeof response["$ref"] === "string"
    ? response["$ref"].slice(1)
    : `/paths/${escaped(template)}/${method}/responses/${status}`
}

/** The media types of a response that the document describes at a place; none without a body. */
const mediaTypesAt = (place: string): ReadonlyArray<string> => {
  const [, ...parts] = place.split("/").map((part) => decodeURIComponent(part))
  const response = parts
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), document)
  const content = isObject(response) ? response["content"] : undefined
  return isObject(content) ? Object.keys(content) : []
}

const schemaComplaints = (place: string, type: string, body: unknown): ReadonlyArray<string> => {
  const validate = validatorAt(`${place}/content/${escaped(type)}/schema`)
  if (validate(body)) return []
  const errors = (validate.errors ?? []).slice(0, 5)
  return errors.map(({ instancePath, message }) => `body${instancePath} ${message ?? ""}`)
}

const isCode = (code: unknown, kind: "request" | "field"): code is keyof typeof registry => {
  if (typeof code !== "string" || !Object.hasOwn(registry, code)) return false
  const entry = registry[code as keyof typeof registry]
  return entry.kind === kind || entry.kind === "both"
}

const codeComplaints = (status: number, body: unknown): ReadonlyArray<string> => {
  if (!isObject(body)) return ["an error without an envelope"]
  const { code, errors } = body
  const found: Array<string> = []
  if (!isCode(code, "request")) found.push(`the code ${String(code)} is not in the registry`)
  else if (statusOf[code as keyof typeof statusOf] !== status) {
    found.push(`the code ${code} belongs to another status than ${status}`)
  }
  for (const error of Array.isArray(errors) ? (errors as ReadonlyArray<Json>) : []) {
    if (!isCode(error["code"], "field")) {
      found.push(`the field code ${String(error["code"])} is not in the registry`)
    }
    // A member without a name is the only thing whose path is empty.
    const isNowhere = error["attr"] === "" && error["code"] !== "unknown_field"
    if (isNowhere || error["detail"] === "") found.push("an error that says nothing")
  }
  return found
}

const saneId = /^[A-Za-z0-9._-]{1,128}$/

const retryAfter = ["retry-after", /^[1-9]\d*$/] as const

/** The headers that go with a status, and what they look like. */
const headersOf: Readonly<Record<number, readonly [name: string, form: RegExp]>> = {
  308: ["location", /\/(\?.*)?$/],
  401: ["www-authenticate", /^Token$/],
  405: ["allow", /^[A-Z]+(, [A-Z]+)*$/],
  429: retryAfter,
  503: retryAfter
}

const isKeyInUse = ({ status, text }: Answered): boolean =>
  status === 409 && text.includes('"idempotency_key_in_use"')

const lines = "application/x-ndjson"
/** The only answer that is text. */
const jose = "application/jose"

/** A condition and a redirect are answered without a body. */
const isEmpty = (status: number): boolean => status === 304 || status === 308

const headerComplaints = (asked: Asked, answered: Answered): ReadonlyArray<string> => {
  const { headers, status } = answered
  const found: Array<string> = []
  const expectHeader = (name: string, form: RegExp) => {
    const value = headers[name]
    if (value === undefined || !form.test(value)) found.push(`${name} is ${String(value)}`)
  }
  expectHeader("x-request-id", saneId)
  expectHeader("x-content-type-options", /^nosniff$/)
  expectHeader("cache-control", asked.path.startsWith("/v1/") ? /^no-store$/ : /./)
  const belonging = isKeyInUse(answered) ? retryAfter : headersOf[status]
  if (belonging !== undefined) expectHeader(...belonging)
  if (!isEmpty(status)) expectHeader("content-type", /^application\/(json|x-ndjson|jose)$/)
  const replayed = headers["idempotency-replayed"]
  if (replayed !== undefined && (replayed !== "true" || status >= 300)) {
    found.push(`idempotency-replayed is ${replayed} on ${status}`)
  }
  const sent = asked.headers["x-request-id"]
  if (sent !== undefined && saneId.test(sent) !== (headers["x-request-id"] === sent)) {
    found.push(`x-request-id is ${String(headers["x-request-id"])} to ${sent}`)
  }
  return found
}

const isLines = ({ headers }: Answered): boolean => headers["content-type"] === lines

/** The values of an answer: one, or that of every line. */
const valuesOf = (answered: Answered): ReadonlyArray<string> =>
  isLines(answered) ? answered.text.split("\n").slice(0, -1) : [answered.text]

const parsed = (text: string): { readonly body?: unknown } => {
  try {
    return { body: JSON.parse(text) as unknown }
  } catch {
    return {}
  }
}

const bodyComplaints = (asked: Asked, answered: Answered): ReadonlyArray<string> => {
  const { status, text } = answered
  if (asked.method === "HEAD" || isEmpty(status)) return text === "" ? [] : ["a body where none is"]
  if (isLines(answered)) return text === "" || text.endsWith("\n") ? [] : ["a line without its end"]
  if (answered.headers["content-type"] === jose) return []
  const { body } = parsed(text)
  if (body === undefined) return ["the body is not JSON"]
  return status < 400 ? [] : codeComplaints(status, body)
}

/** Places for operators of a service, which are no part of the interface. */
const ofOperation = new Set(["/health/live", "/health/ready"])

/** An answer of this status, to this, is one that the document speaks of. */
const documentComplaints = (asked: Asked, answered: Answered): ReadonlyArray<string> => {
  const { headers, status } = answered
  const [path = ""] = asked.path.split("?", 1)
  const template = templateOf(path)
  if (template === undefined) {
    const isRedirect = status === 308 && templateOf(`${path}/`) !== undefined
    return status === 404 || isRedirect || ofOperation.has(path)
      ? []
      : [`${status} at a path that nobody describes`]
  }
  const method = methodOf(asked.method)
  const hasMethod = document.paths[template]?.[method] !== undefined
  if (!hasMethod && status !== 405) {
    return status === 401 || status === 403 ? [] : [`${status} to a method that is not there`]
  }
  const place = describedAt(template, method, status)
  if (place === undefined) return [`the document has no ${status} for ${method} ${template}`]
  const types = mediaTypesAt(place)
  if (types.length === 0 || asked.method === "HEAD") return []
  const type = headers["content-type"] ?? ""
  if (!types.includes(type)) return [`the document has ${types.join()} for ${method} ${template}`]
  const valueOf = (text: string) => (type === jose ? text : parsed(text).body)
  return valuesOf(answered).flatMap((text) => schemaComplaints(place, type, valueOf(text)))
}

/**
 * Everything about an answer that breaks the contract; empty for a good one. A defect always does:
 * no request may lead to one.
 */
export const complaints = (asked: Asked, answered: Answered): ReadonlyArray<string> => [
  ...(answered.status === 500 && answered.text.includes('"error"') ? ["a defect"] : []),
  ...headerComplaints(asked, answered),
  ...bodyComplaints(asked, answered),
  ...documentComplaints(asked, answered)
]
