/** What a sign-off of a migration rests on. */
import { Schema } from "effect"
import { OpenItem } from "@data-import/domain/migrations/OpenItems"
import { InstantText } from "../DecimalSchema.ts"

export const SignOffBody = Schema.Struct({
  open: Schema.Array(OpenItem).annotateKey({
    description: "What is not done. Empty: nothing is open."
  }),
  certificate: Schema.NullOr(
    Schema.Struct({
      certificate_id: Schema.String,
      cohort: Schema.NullOr(Schema.String),
      at: InstantText,
      tree_size: Schema.Int.annotateKey({ description: "Certified accounts." }),
      root: Schema.NullOr(Schema.String).annotateKey({ description: "Null for a viewer." }),
      is_changed: Schema.Boolean.annotateKey({
        description:
          "Whether accounts were imported, reverted, erased or given another balance since."
      })
    })
  ).annotateKey({
    description: "The one that it was given with; before, the newest that is issued. Null: none."
  }),
  signed: Schema.NullOr(
    Schema.Struct({
      by: Schema.NullOr(Schema.String).annotateKey({
        description: "Null for a user of the supplier, who is told neither `reason` nor `accepted`."
      }),
      at: InstantText,
      reason: Schema.NullOr(Schema.String).annotateKey({
        description: "Why, although something was open; null if nothing was."
      }),
      accepted: Schema.Array(OpenItem).annotateKey({ description: "What was open then." })
    })
  )
})
