/**
 * Moves the default of a field from the keyword `default` into its description. Client generators
 * treat a property with that keyword as always present, and so would require it in a request.
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

/** Named schemas with defaults in words. Parameters keep `default`: `required` decides for them. */
export const withDescribedDefaults = (schemas: Json): Json => withoutDefaults(schemas) as Json
