/**
 * Decodes query parameters with the codes of the contract. The endpoint's definition has its
 * parameters. Effect's own endpoints do not decode them, so that their errors can be reported
 * together with those of the body.
 */
import { Context, DateTime, Option, Result, Schema, SchemaGetter } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import type { FieldError } from "@data-import/domain/schema/FieldErrors"
import { fieldCheck, formatInstant, Instant } from "@data-import/domain/schema/Field"
import { mustBeAmong, wholePayload } from "@data-import/domain/schema/Rules"
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

const isSentOnce = fieldCheck<unknown>((text) => typeof text === "string", {
  code: "invalid",
  detail: "Must be sent once.",
  abort: true
})

const readInstant = Schema.decodeUnknownOption(Instant)

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

/** One of the values, sent once. Codes: `invalid`, `invalid_choice`. */
export const oneOf = <const Values extends ReadonlyArray<string>>(values: Values) =>
  Schema.Unknown.check(
    isSentOnce,
    fieldCheck((text) => values.includes(String(text)), {
      code: "invalid_choice",
      ...mustBeAmong(values)
    })
  ).pipe(
    Schema.decodeTo(Schema.Literals(values), {
      decode: SchemaGetter.transform((text: unknown) => text as Values[number]),
      encode: SchemaGetter.transform((value: Values[number]): unknown => value)
    })
  )

/** Some of the values, separated by commas, sent once. Codes: `invalid`, `invalid_choice`. */
export const someOf = <const Values extends ReadonlyArray<string>>(values: Values) =>
  Schema.Unknown.check(
    isSentOnce,
    fieldCheck(
      (text) =>
        String(text)
          .split(",")
          .every((part) => values.includes(part)),
      {
        code: "invalid_choice",
        ...mustBeAmong(values)
      }
    )
  ).pipe(
    Schema.decodeTo(Schema.Array(Schema.Literals(values)), {
      decode: SchemaGetter.transform(
        (text: unknown) => String(text).split(",") as Array<Values[number]>
      ),
      encode: SchemaGetter.transform((parts: ReadonlyArray<Values[number]>): unknown =>
        parts.join(",")
      )
    })
  )

/** An instant with `Z` or an offset, sent once. Codes: `invalid`, `invalid_datetime`. */
export const instant = Schema.Unknown.check(
  isSentOnce,
  fieldCheck((text) => Option.isSome(readInstant(text)), {
    code: "invalid_datetime",
    detail: "Must be a datetime with Z or an offset (a + as %2B), like 2025-01-31T10:00:00Z."
  })
).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, {
    decode: SchemaGetter.transform((text: unknown) => Option.getOrThrow(readInstant(text))),
    encode: SchemaGetter.transform((value: DateTime.Utc): unknown => formatInstant(value))
  })
)

/** Any text that the database can store, sent once. Code: `invalid`. */
export const plainText = Schema.Unknown.check(
  isSentOnce,
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

/** Text of 1 to `max` characters, sent once, trimmed. Codes: `invalid`, `blank`, `max_length`. */
export const textUpTo = (max: number) =>
  Schema.Unknown.check(
    isSentOnce,
    fieldCheck((text) => !String(text).includes("\0"), {
      code: "invalid",
      detail: "Must not contain NUL.",
      abort: true
    }),
    fieldCheck((text) => String(text).trim() !== "", {
      code: "blank",
      detail: "Must not be blank.",
      abort: true
    }),
    fieldCheck((text) => Array.from(String(text).trim()).length <= max, {
      code: "max_length",
      detail: `Must have at most ${max} characters.`,
      parameters: { limit: max }
    })
  ).pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: unknown) => String(text).trim()),
      encode: SchemaGetter.transform((text: string): unknown => text)
    })
  )

/** Parameters have no rules that use facts. */
const noFacts = factsAt(DateTime.makeUnsafe(0))

/** The maximum number of parameters. If there are more, none is decoded. */
export const mostParameters = 100

/** The percent-decoded query. A repeated parameter is a list. Null if there are too many. */
export type Query = Readonly<Record<string, string | ReadonlyArray<string>>> | null

/** Parses the text after the `?` of a URL, up to the maximum number of parameters. */
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

/** Marks an endpoint that is not an operation of the contract and ignores parameters. */
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

/**
 * The errors of documented parameters in the order of their definition, of missing ones too, then
 * those of the others as sent.
 */
const inOrder = (names: ReadonlyArray<string>, errors: ReadonlyArray<FieldError>) =>
  [...names.keys(), -1].flatMap((at) => errors.filter(({ attr }) => names.indexOf(attr) === at))

type Schemas = Schema.Codec<unknown, unknown> & { readonly fields: Schema.Struct.Fields }

/** The parts of an endpoint that define its query. */
type Defined = Pick<HttpApiEndpoint.Top, "annotations" | "identifier" | "query">

/** The query as it was defined, before Effect adapted it to its decoder. */
const schemaOf = ({ identifier, query }: Defined): Schemas => {
  if (query === undefined) return Schema.Struct({})
  const { schema } = query as unknown as { readonly schema?: Schemas }
  if (schema?.fields === undefined) throw new Error(`${identifier}: its query is no struct`)
  return schema
}

/** The type of an endpoint's decoded query. */
export type ParametersOf<E> = [HttpApiEndpoint.Query<E>] extends [{ readonly Type: infer Type }]
  ? [Type] extends [never]
    ? {}
    : Type
  : {}

/** The decoded parameters, or all their errors, each at the name of its parameter. */
export type Parameters<E> = Result.Result<ParametersOf<E>, ReadonlyArray<FieldError>>

/** Makes the decoder of an endpoint's parameters. An undefined parameter is an error. */
export const parametersOf = <E extends Defined>(endpoint: E) => {
  const schema = schemaOf(endpoint)
  const names = Object.keys(schema.fields)
  const { validate } = validator({ schema, rules: { rules: [] }, wrapper: null })
  const described = (error: FieldError): FieldError =>
    error.code === "unknown_field" ? unknownParameter(names, error.attr) : error
  const read = (query: Query) =>
    query === null
      ? Result.fail(tooMany)
      : Result.mapError(validate(query, noFacts), (errors) => inOrder(names, errors).map(described))
  const withoutAny = read(noQuery)
  const isIgnored = Context.get(endpoint.annotations, IgnoresParameters)
  return (query: Query): Parameters<E> =>
    (isIgnored || query === noQuery ? withoutAny : read(query)) as Parameters<E>
}
