/**
 * Query parameters, read from the text in the URL with the codes of the contract. They are decoded
 * by the handlers and not by the endpoint, so that their faults are reported together with those of
 * the body.
 */
import { DateTime, type Result, Schema, SchemaGetter } from "effect"
import { factsAt } from "@data-import/domain/AccountValidation"
import type { Fault } from "@data-import/domain/Failure"
import { fieldCheck } from "@data-import/domain/Field"
import { validator } from "@data-import/domain/Validation"

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
      detail: `Must be at least ${min}.`
    }),
    fieldCheck((text) => Number(text) <= max, {
      code: "max_value",
      detail: `Must be at most ${max}.`
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

/**
 * Makes the reader of a query. The parameters that the schema names are decoded, an unknown one is
 * ignored, and all faults are reported, each at its parameter's name.
 */
export const reader = <A>(
  schema: Schema.Codec<A, unknown> & { readonly fields: Schema.Struct.Fields }
) => {
  const names = Object.keys(schema.fields)
  const { validate } = validator({ schema, rules: { rules: [] }, wrapper: null })
  return (
    query: Readonly<Record<string, string | ReadonlyArray<string>>>
  ): Result.Result<A, ReadonlyArray<Fault>> =>
    validate(
      Object.fromEntries(
        names.flatMap((name) => (Object.hasOwn(query, name) ? [[name, query[name]]] : []))
      ),
      noFacts
    )
}
