/** The condition of a request on an entity tag, by weak comparison. Source: RFC 9110. */

const tags = /(?:W\/)?"([^"]*)"/g

const opaque = (tag: string): string => tag.replace(/^W\//, "").slice(1, -1)

/** Whether `If-None-Match` names the tag, alone, in a list or by `*`. */
export const matches = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === "*" ||
  [...ifNoneMatch.matchAll(tags)].some(([, named]) => named === opaque(tag))
