/**
 * What a user of the board is told of, and where: the user's own settings.
 * Source: docs/contract/board.md#alerts.
 */
import { Schema } from "effect"
import { alertKinds } from "@data-import/domain/alerts/Alert"
import { deliveryStates } from "@data-import/domain/alerts/Alerts"
import { AlertSettingsRequest, alertWays } from "@data-import/domain/alerts/AlertSettings"
import { choice } from "@data-import/domain/schema/Field"
import { InstantText } from "../DecimalSchema.ts"

export const alertBodies = {
  settings: AlertSettingsRequest,
  test: Schema.Struct({ way: choice(alertWays) })
}

export const AlertsBody = Schema.Struct({
  kinds: Schema.Array(Schema.Literals(alertKinds)),
  failing_share: Schema.Int,
  import_suppliers: Schema.NullOr(Schema.Array(Schema.String)),
  email: Schema.NullOr(Schema.String),
  webhook: Schema.NullOr(Schema.String).annotateKey({
    description: "Its host only: the rest is a secret."
  }),
  sends_email: Schema.Boolean.annotateKey({
    description: "Whether the deployment is set up to send e-mail."
  }),
  told: Schema.Array(
    Schema.Struct({
      way: Schema.Literals(alertWays),
      title: Schema.String,
      reason: Schema.String,
      path: Schema.String,
      at: InstantText,
      state: Schema.Literals(deliveryStates),
      error: Schema.NullOr(Schema.String)
    })
  ).annotateKey({ description: "The newest 20." })
})

export const AlertTestBody = Schema.Struct({
  sent: Schema.Boolean,
  answer: Schema.String.annotateKey({ description: "What the server said." })
})
