/**
 * Query parameters, read from the text in the URL with the codes of the contract. They are decoded by the
 * handlers and not by the endpoint, so that their faults are reported together with those of the body.
 */
import { Schema, SchemaGetter } from "effect"
import { fieldCheck } from "@data-import/domain/Field"

const digits = /^[+-]?\d{1,15}$/

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
