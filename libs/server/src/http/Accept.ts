/**
 * Whether an Accept header allows a media type of an answer. The most specific range decides (RFC
 * 9110), so `application/json;q=0` refuses what a wildcard would allow.
 */

const quality = (parameters: ReadonlyArray<string>): number => {
  const q = parameters.map((one) => one.trim().toLowerCase()).find((one) => one.startsWith("q="))
  return q === undefined ? 1 : Number(q.slice(2))
}

const specificity: Readonly<Record<string, number>> = { "application/*": 2, "*/*": 1 }

/** The quality that the most specific range gives to the media type; 0 if none allows it. */
const qualityOf = (mediaType: string, header: string): number => {
  let best = 0
  let found = 0
  for (const range of header.split(",")) {
    const [type = "", ...parameters] = range.split(";")
    const named = type.trim().toLowerCase()
    const rank = named === mediaType ? 3 : (specificity[named] ?? 0)
    if (rank <= best) continue
    best = rank
    found = quality(parameters)
  }
  return found
}

const allows = (mediaType: string, header: string | undefined): boolean =>
  header === undefined || header.trim() === "" || qualityOf(mediaType, header) > 0

export const allowsJson = (header: string | undefined): boolean =>
  allows("application/json", header)

/** The errors of an answer of NDJSON are JSON, so either type will do. */
export const allowsNdjson = (header: string | undefined): boolean =>
  allowsJson(header) || allows("application/x-ndjson", header)

/** Whether the media type is wanted rather than JSON. */
export const prefers = (mediaType: string, header: string | undefined): boolean =>
  header !== undefined && qualityOf(mediaType, header) > qualityOf("application/json", header)
