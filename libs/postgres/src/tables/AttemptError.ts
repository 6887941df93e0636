/** Why an attempt failed, as JSON in a column of the attempts. */
import { Schema } from "effect"

export const AttemptError = Schema.Struct({
  code: Schema.String,
  attr: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(
    Schema.Struct({
      limit: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.String])),
      actual: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.String])),
      expected: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.String])),
      difference: Schema.optionalKey(Schema.String),
      nearest: Schema.optionalKey(Schema.String),
      allowed: Schema.optionalKey(Schema.Array(Schema.String)),
      reason: Schema.optionalKey(Schema.String),
      ids: Schema.optionalKey(Schema.Array(Schema.Union([Schema.Finite, Schema.String]))),
      business_day: Schema.optionalKey(Schema.String)
    })
  )
})
