/**
 * Opens the schemas of responses, so that a client that validates them accepts new fields and
 * values. The schemas of requests stay closed, because an unknown field there is an error.
 * Source: docs/contract/README.md#versioning
 */

export type Json = { [key: string]: unknown }

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Lists the currently known values of an open list. */
export const knownValues = "x-extensible-enum"

const schemaPointer = "#/components/schemas/"

const schemaNamed = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith(schemaPointer)
    ? value.slice(schemaPointer.length)
    : undefined

/** The names of all schemas that the value refers to, directly or indirectly. */
const namesIn = (value: unknown, schemas: Json, found = new Set<string>()): Set<string> => {
  if (Array.isArray(value)) for (const part of value) namesIn(part, schemas, found)
  if (!isJson(value)) return found
  const name = schemaNamed(value["$ref"])
  if (name !== undefined && !found.has(name)) namesIn(schemas[name], schemas, found.add(name))
  for (const part of Object.values(value)) namesIn(part, schemas, found)
  return found
}

type Rename = (name: string) => string

/** The schema with open objects and lists of values. `rename` maps the names of inner schemas. */
const opened = (schema: unknown, rename: Rename): unknown => {
  if (Array.isArray(schema)) return schema.map((part) => opened(part, rename))
  if (!isJson(schema)) return schema
  const open: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    const name = key === "$ref" ? schemaNamed(value) : undefined
    if (name !== undefined) open[key] = schemaPointer + rename(name)
    else if (key === "enum") open[knownValues] = value
    else if (key !== "additionalProperties" || value !== false) open[key] = opened(value, rename)
  }
  return open
}

const isClosed = (schema: unknown): boolean =>
  JSON.stringify(schema) !== JSON.stringify(opened(schema, (name) => name))

const mapped = (record: Json, change: (value: Json) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value as Json)]))

const openedResponse =
  (rename: Rename) =>
  (response: Json): Json =>
    isJson(response["content"])
      ? {
          ...response,
          content: mapped(response["content"], ({ schema, ...media }) => ({
            schema: opened(schema, rename),
            ...media
          }))
        }
      : response

/** The parts of a document that contain schemas. */
interface Parts {
  readonly paths: Json
  readonly responses: Json
  readonly schemas: Json
}

/**
 * The same parts with open responses. A closed schema of a request stays unchanged. Responses refer
 * to an open copy of it, whose name ends in `Answer`.
 */
export const withExtensibleResponses = ({ paths, responses, schemas }: Parts): Parts => {
  const operations = Object.values(paths).flatMap((item) => Object.values(item as Json) as Json[])
  const requests = namesIn(
    operations.map(({ requestBody }) => requestBody),
    schemas
  )
  const answers = namesIn(
    [responses, operations.map((operation) => operation["responses"])],
    schemas
  )
  const isCopied = (name: string): boolean =>
    requests.has(name) &&
    answers.has(name) &&
    [name, ...namesIn(schemas[name], schemas)].some((each) => isClosed(schemas[each]))
  const rename: Rename = (name) => (isCopied(name) ? `${name}Answer` : name)
  const schemasOf = (name: string, schema: unknown): ReadonlyArray<[string, unknown]> => [
    ...(requests.has(name) ? [[name, schema] as [string, unknown]] : []),
    ...(isCopied(name) || !requests.has(name)
      ? [[rename(name), opened(schema, rename)] as [string, unknown]]
      : [])
  ]
  return {
    paths: mapped(paths, (item) =>
      mapped(item, (operation) => ({
        ...operation,
        responses: mapped(operation["responses"] as Json, openedResponse(rename))
      }))
    ),
    responses: mapped(responses, openedResponse(rename)),
    schemas: Object.fromEntries(
      Object.entries(schemas).flatMap(([name, schema]) => schemasOf(name, schema))
    )
  }
}
