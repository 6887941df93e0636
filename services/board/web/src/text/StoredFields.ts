/** A JSON value as lines, each with its path, such as `customers.0.email`. */

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

export const flattened = (value: unknown, path = ""): ReadonlyArray<readonly [string, string]> => {
  if (!isObject(value)) return [[path, typeof value === "string" ? value : JSON.stringify(value)]]
  const members = Object.entries(value)
  if (members.length === 0) return [[path, Array.isArray(value) ? "[]" : "{}"]]
  return members.flatMap(([name, member]) =>
    flattened(member, path === "" ? name : `${path}.${name}`)
  )
}
