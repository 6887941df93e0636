/**
 * Deprecation of an operation: it is marked in its definition and in the document, and every answer
 * has the headers of RFC 9745 and RFC 8594 until its end.
 * Source: docs/contract/README.md#deprecation.
 */
import { Context, DateTime } from "effect"
import { OpenApi } from "effect/http-api"

export interface Deprecation {
  /** The first day of the deprecation, as YYYY-MM-DD. */
  readonly since: string
  /** The day on which it may end, as YYYY-MM-DD: at least a year later. */
  readonly sunset: string
  /** What replaces it, as a sentence in Markdown. */
  readonly instead: string
}

/** Set for a deprecated operation. */
const Marked = Context.Reference<Deprecation | null>("@data-import/api/Deprecation", {
  defaultValue: () => null
})

/** @throws when the day does not exist. */
const startOf = (day: string): DateTime.Utc => DateTime.makeUnsafe(`${day}T00:00:00Z`)

/**
 * The annotations of a deprecated endpoint, to be merged into its others.
 * @throws when it would end within a year.
 */
export const deprecated = (deprecation: Deprecation): Context.Context<never> => {
  const earliest = DateTime.add(startOf(deprecation.since), { years: 1 })
  if (DateTime.isLessThan(startOf(deprecation.sunset), earliest)) {
    throw new Error(`Deprecated since ${deprecation.since}, it may not end within a year`)
  }
  return OpenApi.annotations({ deprecated: true }).pipe(Context.add(Marked, deprecation))
}

interface Annotated {
  readonly annotations: Context.Context<never>
}

/** The deprecation of an endpoint; null if it is not deprecated. */
export const deprecationOf = ({ annotations }: Annotated): Deprecation | null =>
  Context.get(annotations, Marked)

/** The link to the page about it, relative to the request, so that it fits any deployment. */
export const deprecationLink = '</docs/versions>; rel="deprecation"; type="text/html"'

/** The headers of every answer of the operation, except the link; names are in lower case. */
export const deprecationHeaders = ({ since, sunset }: Deprecation) => ({
  deprecation: `@${DateTime.toEpochMillis(startOf(since)) / 1_000}`,
  sunset: DateTime.toDateUtc(startOf(sunset)).toUTCString()
})

/** The sentence about the deprecation in the document. */
export const describeDeprecation = ({ instead, since, sunset }: Deprecation): string =>
  `Deprecated since ${since}. It ends on ${sunset} at the earliest. ${instead}`
