/** Valid payloads in which some parts were replaced or removed. */
import fc from "fast-check"
import { drop, get, put, type Wire } from "../testing/wire.ts"

/** The payload with some of its values replaced or removed. */
export const damaged = (payload: Wire): fc.Arbitrary<Wire> => {
  const paths: Array<ReadonlyArray<string | number>> = []
  const collect = (value: unknown, path: ReadonlyArray<string | number>): void => {
    if (path.length > 0) paths.push(path)
    if (Array.isArray(value)) value.forEach((element, index) => collect(element, [...path, index]))
    else if (typeof value === "object" && value !== null) {
      Object.entries(value).forEach(([name, member]) => collect(member, [...path, name]))
    }
  }
  collect(payload, [])
  const place = fc.constantFrom(...paths)
  const damage = fc.oneof(
    fc.record({ place, value: fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }) }),
    fc.record({ place, value: place.map((other) => get(payload, other)) }),
    fc.record({ place, value: fc.constant(undefined) })
  )
  return fc.array(damage, { minLength: 1, maxLength: 8 }).map((damages) =>
    damages.reduce((body, { place: path, value }) => {
      const parent = get(body, path.slice(0, -1))
      if (typeof parent !== "object" || parent === null) return body
      // Earlier damage may have made the list shorter, and JSON has no lists with gaps.
      if (Array.isArray(parent) && !((path.at(-1) ?? 0) in parent)) return body
      return value === undefined && !Array.isArray(parent)
        ? drop(body, path)
        : put(body, path, value ?? null)
    }, payload)
  )
}
