/** What people say about a migration, a wave or an account. */
import { Schema } from "effect"
import { CommentAbout } from "@data-import/domain/migrations/Comments"
import { OpenItem } from "@data-import/domain/migrations/OpenItems"
import { InstantText } from "../DecimalSchema.ts"

export const CommentBody = Schema.Struct({
  comment_id: Schema.String,
  at: InstantText,
  by: Schema.String.annotateKey({ description: "As `who` of the audit log." }),
  about: CommentAbout.annotateKey({ description: "What it goes with." }),
  cohort: Schema.NullOr(Schema.String),
  external_account_number: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String).annotateKey({
    description: "Of a file that was sent: to whom. Null once the account is erased."
  }),
  open: Schema.NullOr(Schema.Array(OpenItem)).annotateKey({
    description: "What was open then, or what the file had; null for other comments."
  })
})

export const CommentsBody = Schema.Struct({
  comments: Schema.Array(CommentBody).annotateKey({ description: "The newest first." }),
  next_before: Schema.NullOr(Schema.String)
})
