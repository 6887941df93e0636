/**
 * Says in the description of a field what holds where it is left out, in place of the keyword
 * `default`. Generators of clients take a property with that keyword for one that is always there,
 * so that it would be required in a request.
 */
import { isJson, type Json } from "./ExtensibleResponses.ts"

const described = (schema: unknown): unknown => {
  if (!isJson(schema) || !Object.hasOwn(schema, "default")) return withoutDefaults(schema)
  const { default: value, description, ...others } = schema
  const words = `\`${String(value)}\` where it is omitted.`
  const text = typeof description === "string" ? `${description} ${words}` : words
  return { ...(withoutDefaults(others) as Json), description: text }
}

const withoutDefaults = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutDefaults)
  if (!isJson(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === "properties" && isJson(value)
        ? Object.fromEntries(Object.entries(value).map(([name, it]) => [name, described(it)]))
        : withoutDefaults(value)
    ])
  )
}

/** Named schemas with their defaults in words. Parameters keep theirs: `required` rules them. */
export const withDescribedDefaults = (schemas: Json): Json => withoutDefaults(schemas) as Json
