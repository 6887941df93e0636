/** The body of a GraphQL request, as the specification "GraphQL over HTTP" defines it. */
import { Result } from "effect"

export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>> | null
  readonly operationName: string | null
}

type Kind = "array" | "null" | "object" | "string" | "undefined" | "number" | "boolean"

const kindOf = (value: unknown): Kind => {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : (typeof value as Kind)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  kindOf(value) === "object"

/** The parameters that may be an object, null or absent. */
const objects = ["variables", "extensions"]

const names = ["query", "operationName", ...objects]

/** What is wrong with the body; undefined if it is a request. */
const refusalOf = (body: unknown): string | undefined => {
  if (Array.isArray(body)) return "Batching is not supported."
  if (!isObject(body)) return `POST body is expected to be object but received ${kindOf(body)}`
  const isSent = (name: string) => body[name] !== undefined && body[name] !== null
  const unknown = Object.keys(body).find((name) => isSent(name) && !names.includes(name))
  if (unknown !== undefined) return `Unexpected parameter "${unknown}" in the request body.`
  if (!isSent("query")) return "Must provide query string."
  const query = kindOf(body["query"])
  if (query !== "string") return `Expected "query" param to be a string, but given ${query}.`
  if (isSent("operationName") && typeof body["operationName"] !== "string") {
    const kind = kindOf(body["operationName"])
    return `Expected "operationName" param to be empty or a string, but given ${kind}.`
  }
  const wrong = objects.find((name) => isSent(name) && !isObject(body[name]))
  if (wrong === undefined) return undefined
  return `Expected "${wrong}" param to be empty or an object, but given ${kindOf(body[wrong])}.`
}

/** The request, or what is wrong with its body. */
export const decodeRequest = (body: unknown): Result.Result<GraphqlRequest, string> => {
  const refusal = refusalOf(body)
  if (refusal !== undefined) return Result.fail(refusal)
  type Sent = Pick<GraphqlRequest, "query"> & Partial<GraphqlRequest>
  const { operationName = null, query, variables = null } = body as Sent
  return Result.succeed({ query, variables, operationName })
}
