/**
 * Whether an Accept header allows JSON, the type of every answer. The most specific range decides
 * (RFC 9110), so `application/json;q=0` refuses what a wildcard would allow.
 */

const quality = (parameters: ReadonlyArray<string>): number => {
  const q = parameters.map((one) => one.trim().toLowerCase()).find((one) => one.startsWith("q="))
  return q === undefined ? 1 : Number(q.slice(2))
}

const specificity: Readonly<Record<string, number>> = {
  "application/json": 3,
  "application/*": 2,
  "*/*": 1
}

export const allowsJson = (header: string | undefined): boolean => {
  if (header === undefined || header.trim() === "") return true
  let best = 0
  let allowed = false
  for (const range of header.split(",")) {
    const [type = "", ...parameters] = range.split(";")
    const rank = specificity[type.trim().toLowerCase()] ?? 0
    if (rank <= best) continue
    best = rank
    allowed = quality(parameters) > 0
  }
  return allowed
}
