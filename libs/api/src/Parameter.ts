/**
 * Query parameters, read from the text in the URL with the codes of the contract. Which parameters
 * an operation takes is what its endpoint's definition says. They are not decoded by Effect's own
 * endpoints, so that their errors are reported together with those of the body.
 */
import { Context, DateTime, Result, Schema, SchemaGetter } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { factsAt } from "@data-import/domain/validation/AccountValidation"
import type { FieldError } from "@data-import/domain/schema/Findings"
import { fieldCheck } from "@data-import/domain/schema/Field"
import { wholePayload } from "@data-import/domain/schema/Rules"
import { nearestOf } from "@data-import/domain/schema/SchemaTree"
import { validator } from "@data-import/domain/schema/Validator"

const digits = /^-?\d+$/

/** A whole number from `min` to `max`. Codes: `invalid`, `min_value`, `max_value`. */
export const wholeNumber = (min: number, max: number) =>
  Schema.Unknown.check(
    fieldCheck((text) => typeof text === "string" && digits.test(text), {
      code: "invalid",
      detail: "Must be a whole number.",
      abort: true
    }),
    fieldCheck((text) => Number(text) >= min, {
      code: "min_value",
      detail: `Must be at least ${min}.`,
      parameters: { limit: min }
    }),
    fieldCheck((text) => Number(text) <= max, {
      code: "max_value",
      detail: `Must be at most ${max}.`,
      parameters: { limit: max }
    })
  ).pipe(
    Schema.decodeTo(Schema.Number, {
      decode: SchemaGetter.transform((text: unknown) => Number(text)),
      encode: SchemaGetter.transform((value: number): unknown => String(value))
    })
  )

/** `true` or `false`, in any case. Code: `invalid`. */
export const flag = Schema.Unknown.check(
  fieldCheck((text) => typeof text === "string" && /^(true|false)$/i.test(text), {
    code: "invalid",
    detail: "Must be true or false."
  })
).pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((text: unknown) => String(text).toLowerCase() === "true"),
    encode: SchemaGetter.transform((value: boolean): unknown => String(value))
  })
)

/** Any text that can be stored, sent once. Code: `invalid`. */
export const plainText = Schema.Unknown.check(
  fieldCheck((text) => typeof text === "string", {
    code: "invalid",
    detail: "Must be sent once.",
    abort: true
  }),
  fieldCheck((text) => !String(text).includes("\0"), {
    code: "invalid",
    detail: "Must not contain NUL."
  })
).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text: unknown) => String(text)),
    encode: SchemaGetter.transform((text: string): unknown => text)
  })
)

/** The facts that no rule asks for, since parameters have no rules beyond their own form. */
const noFacts = factsAt(DateTime.makeUnsafe(0))

/** A request has no more parameters than this; of more, none is looked at. */
export const mostParameters = 100

/**
 * The query as sent, percent-decoded; a parameter that stands several times is a list. Null where
 * there are too many.
 */
export type Query = Readonly<Record<string, string | ReadonlyArray<string>>> | null

/** What stands behind the `?` of a URL, read up to the parameter that is too many. */
export const queryOf = (search: string): Query => {
  const query: Record<string, string | Array<string>> = Object.create(null) as {}
  let count = 0
  for (const [name, value] of new URLSearchParams(search)) {
    if (++count > mostParameters) return null
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (Array.isArray(before)) before.push(value)
    else query[name] = [before, value]
  }
  return query
}

/** The query of a URL without one. */
export const noQuery: Query = {}

/** For an endpoint that is no operation of the contract, and takes whatever else is sent. */
export const IgnoresParameters = Context.Reference<boolean>("@data-import/api/IgnoresParameters", {
  defaultValue: () => false
})

const tooMany: ReadonlyArray<FieldError> = [
  {
    attr: wholePayload,
    code: "max_length",
    detail: `Send at most ${mostParameters} query parameters.`,
    parameters: { limit: mostParameters }
  }
]

const unknownParameter = (names: ReadonlyArray<string>, name: string): FieldError => {
  const nearest = nearestOf(names, name)
  const unknown = { attr: name === "" ? wholePayload : name, code: "unknown_parameter" } as const
  if (nearest === undefined) {
    return { ...unknown, detail: "This operation takes no query parameters." }
  }
  const detail = `Not a documented parameter; the nearest is ${nearest}.`
  return { ...unknown, detail, parameters: { nearest } }
}

/** The documented parameters in the order of their definition, then any others as sent. */
const inOrder = (names: ReadonlyArray<string>, query: NonNullable<Query>): NonNullable<Query> => {
  const ordered: Record<string, NonNullable<Query>[string]> = Object.create(null) as {}
  for (const name of [...names, ...Object.keys(query)]) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    if (value !== undefined) ordered[name] = value
  }
  return ordered
}

type Schemas = Schema.Codec<unknown, unknown> & { readonly fields: Schema.Struct.Fields }

/** An endpoint, as far as its query goes. */
type Defined = Pick<HttpApiEndpoint.Top, "annotations" | "identifier" | "query">

/** The endpoint's query as it is defined, before it was made fit for the decoder of Effect. */
const schemaOf = ({ identifier, query }: Defined): Schemas => {
  if (query === undefined) return Schema.Struct({})
  const { schema } = query as unknown as { readonly schema?: Schemas }
  if (schema?.fields === undefined) throw new Error(`${identifier}: its query is no struct`)
  return schema
}

/** What the query of an endpoint is decoded to; its text is that of the contract. */
export type ParametersOf<E> = [HttpApiEndpoint.Query<E>] extends [{ readonly Type: infer Type }]
  ? [Type] extends [never]
    ? {}
    : Type
  : {}

/** The decoded parameters, or every error in them, each at its parameter's name. */
export type Parameters<E> = Result.Result<ParametersOf<E>, ReadonlyArray<FieldError>>

/** Makes the reader of an endpoint's parameters; one that it does not define is an error. */
export const parametersOf = <E extends Defined>(endpoint: E) => {
  const schema = schemaOf(endpoint)
  const names = Object.keys(schema.fields)
  const { validate } = validator({ schema, rules: { rules: [] }, wrapper: null })
  const described = (error: FieldError): FieldError =>
    error.code === "unknown_field" ? unknownParameter(names, error.attr) : error
  const read = (query: Query) =>
    query === null
      ? Result.fail(tooMany)
      : Result.mapError(validate(inOrder(names, query), noFacts), (errors) => errors.map(described))
  const withoutAny = read(noQuery)
  const isIgnored = Context.get(endpoint.annotations, IgnoresParameters)
  return (query: Query): Parameters<E> =>
    (isIgnored || query === noQuery ? withoutAny : read(query)) as Parameters<E>
}
