/**
 * Finds the entry of a path, with Effect's router. That router decodes a path before it compares
 * it, and cuts it off at a semicolon. Both would let two spellings of a path reach the same route,
 * and `%2F` split a segment. So these characters are escaped once more before the lookup: paths are
 * compared as they were sent, and only the values of parameters are decoded.
 */
import { FindMyWay } from "effect/http"

/** What a path leads to, with the decoded values of the template's parameters. */
export interface Match<A> {
  readonly value: A
  readonly params: Readonly<Record<string, string>>
}

/**
 * Returns undefined for a path that matches no template, or whose parameters are empty or
 * malformed.
 */
export type PathRouter<A> = (path: string) => Match<A> | undefined

/** Effect's router also matches methods. Here a path is found for any method. */
const anyMethod = "*"

const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const decodedParams = (
  sent: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string>> | undefined => {
  const params: Record<string, string> = {}
  for (const name in sent) {
    const value = decoded(sent[name] ?? "")
    if (value === undefined || value === "") return undefined
    params[name] = value
  }
  return params
}

/** In a template, `:name` stands for one whole segment. */
export const make = <A>(templates: Iterable<readonly [`/${string}`, A]>): PathRouter<A> => {
  const router = FindMyWay.make<A>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: Infinity
  })
  for (const [template, value] of templates) router.on(anyMethod, template, value)
  return (path) => {
    // The router accepts any first character as the slash.
    if (!path.startsWith("/")) return undefined
    const found = router.find(anyMethod, path.replace(/[%;#?]/g, encodeURIComponent))
    if (found === undefined) return undefined
    const params = decodedParams(found.params)
    return params && { value: found.handler, params }
  }
}
