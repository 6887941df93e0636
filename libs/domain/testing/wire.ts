/**
 * JSON values, read and altered by path, so that a test can state how a body differs. Nothing is
 * altered in place, and any name may be a key, including inherited ones.
 */

/** A JSON object. */
export type Wire = { readonly [name: string]: unknown }

/** Names and indexes; in text they are joined by dots, as in an `attr`. */
export type WirePath = string | ReadonlyArray<string | number>

const segmentsOf = (path: WirePath): ReadonlyArray<string | number> =>
  typeof path === "string"
    ? path.split(".").map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment))
    : path

/** The path as the `attr` of an error object. */
export const attrOf = (path: WirePath): string => segmentsOf(path).join(".")

export const isWire = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const memberOf = (value: unknown, segment: string | number): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, segment)
    ? (value as Wire)[segment]
    : undefined

/** The value at the path; undefined if there is none. */
export const get = (body: unknown, path: WirePath): unknown =>
  segmentsOf(path).reduce(memberOf, body)

/** The objects of the list at the path; empty if there is no list. */
export const objectsAt = (body: unknown, path: WirePath): ReadonlyArray<Wire> => {
  const list = get(body, path)
  return Array.isArray(list) ? list.filter(isWire) : []
}

const withMember = (parent: unknown, segment: string | number, value: unknown): unknown => {
  if (Array.isArray(parent)) {
    const list: Array<unknown> = [...(parent as ReadonlyArray<unknown>)]
    list[Number(segment)] = value
    return list
  }
  // Entries, because an assignment to `__proto__` would not add a key.
  const entries = isWire(parent) ? Object.entries(parent) : []
  const isThere = entries.some(([name]) => name === segment)
  return Object.fromEntries(
    isThere
      ? entries.map(([name, present]) => [name, name === segment ? value : present])
      : [...entries, [segment, value]]
  )
}

const putAt = (
  body: unknown,
  [segment, ...rest]: ReadonlyArray<string | number>,
  value: unknown
): unknown =>
  segment === undefined
    ? value
    : withMember(body, segment, putAt(memberOf(body, segment), rest, value))

/** The body with `value` at the path, in place of the old value or after the other members. */
export const put = (body: Wire, path: WirePath, value: unknown): Wire =>
  putAt(body, segmentsOf(path), value) as Wire

/** The body with every path set to its value, one after the other. */
export const putAll = (body: Wire, values: Wire): Wire =>
  Object.entries(values).reduce((altered, [path, value]) => put(altered, path, value), body)

/** The body without the member at the path. */
export const drop = (body: Wire, path: WirePath): Wire => {
  const segments = segmentsOf(path)
  const parent = segments.slice(0, -1)
  const name = segments.at(-1)
  const left = Object.entries(get(body, parent) ?? {}).filter(([member]) => member !== name)
  return put(body, parent, Object.fromEntries(left))
}

/** The body as JSON with this source at the path, for text that `JSON.stringify` never writes. */
export const withSource = (body: Wire, path: WirePath, source: string): string => {
  const marker = "the source stands here"
  return JSON.stringify(put(body, path, marker)).replace(JSON.stringify(marker), () => source)
}
