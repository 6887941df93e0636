/**
 * Invitations of people of a supplier.
 * Source: docs/contract/board.md#invitations.
 */
import { Schema } from "effect"
import { InstantText } from "../DecimalSchema.ts"

export const InvitationsBody = Schema.Struct({
  invitations: Schema.Array(
    Schema.Struct({
      invitation_id: Schema.String,
      person: Schema.String,
      by: Schema.String.annotateKey({ description: "As `who` of the audit log." }),
      at: InstantText,
      expires_at: InstantText,
      used_at: Schema.NullOr(InstantText).annotateKey({ description: "When it was used last." })
    })
  ).annotateKey({ description: "Those that can still be used, the newest first." })
})

export const InvitedBody = Schema.Struct({
  url: Schema.String.annotateKey({ description: "The link, which is a secret: answered once." }),
  expires_at: InstantText.annotateKey({ description: "Until when it is to be used first." })
})
