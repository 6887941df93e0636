/** The bodies of the actions of managers on the board. */
import { Schema } from "effect"
import { ShortName } from "@data-import/domain/batches/Batch"
import { Invited } from "@data-import/domain/access/Invitations"
import { RevertReason } from "@data-import/domain/imports/Revert"
import { CommentText, SaidAbout } from "@data-import/domain/migrations/Comments"
import { GoNoGo } from "@data-import/domain/migrations/GoNoGo"
import { mostAccounts } from "@data-import/domain/migrations/ControlTotals"
import { choice, integer, nonBlankText } from "@data-import/domain/schema/Field"
import { ControlTotalsRequest } from "@data-import/domain/migrations/ControlTotals"

/** Selects imports that match every member. */
const SelectionBody = Schema.Struct({
  state: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(Schema.String),
  attr: Schema.optionalKey(Schema.String),
  cohort: Schema.optionalKey(Schema.NullOr(Schema.String)).annotateKey({
    description: "Null: those without one."
  }),
  search: Schema.optionalKey(Schema.String),
  corrected: Schema.optionalKey(Schema.Literal(true)).annotateKey({
    description: "Those that were staged again after they had failed."
  }),
  numbers: Schema.optionalKey(Schema.Array(Schema.String)).annotateKey({
    description: "External account numbers, at most 1,000."
  })
})

const newBatchId = Schema.String.annotateKey({
  description: "A new UUID of the page. Sent again, it gives the batch that there is."
})

const reason = (when: string) =>
  Schema.optionalKey(Schema.NullOr(CommentText)).annotateKey({
    description: `Why, kept as a comment. Required ${when} while something is open.`
  })

/** The bodies of the actions; the programs check members with further rules. */
export const actionBodies = {
  plan: Schema.Struct({
    points: Schema.Array(Schema.Struct({ on: Schema.String, accounts: Schema.Number }))
  }),
  controlTotals: Schema.Struct({
    cohort: Schema.NullOr(Schema.String).annotateKey({ description: "Null: all accounts." }),
    ...ControlTotalsRequest.fields
  }),
  status: Schema.Struct({
    status: choice(["Ongoing", "Paused"]),
    reason: reason("to pause")
  }),
  comment: Schema.Struct({
    comment_id: Schema.String.annotateKey({
      description: "A new UUID of the page. Sent again, it gives the comment that there is."
    }),
    about: choice(SaidAbout.literals),
    cohort: Schema.NullOr(ShortName),
    external_account_number: Schema.NullOr(Schema.String),
    text: CommentText
  }),
  cohort: Schema.Struct({
    move_id: Schema.String.annotateKey({
      description:
        "A new UUID of the page, the same for all parts. Sent again, it moves none twice."
    }),
    cohort: Schema.NullOr(Schema.String),
    selection: SelectionBody,
    after: Schema.optionalKey(Schema.NullOr(Schema.String)).annotateKey({
      description: "`next_after` of the answer before; none to begin."
    })
  }),
  undoMove: Schema.Struct({
    undo_id: Schema.String.annotateKey({ description: "The same, of the undo." }),
    after: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  preview: Schema.Struct({ selection: SelectionBody }),
  processing: Schema.Struct({
    batch_id: newBatchId,
    selection: SelectionBody,
    operations_team_name: Schema.String,
    dry_run: Schema.optionalKey(Schema.Boolean).annotateKey({
      description: "Whether it is a rehearsal, which imports nothing."
    })
  }),
  undo: Schema.Struct({
    batch_id: newBatchId,
    cohort: ShortName.annotateKey({ description: "Typed, to confirm." }),
    reason: RevertReason,
    with_additions: Schema.Boolean.annotateKey({
      description: "Whether what was added after the import may end too."
    })
  }),
  decision: Schema.Struct({
    cohort: ShortName,
    decision: choice(GoNoGo.literals),
    rehearsal_id: Schema.NullOr(Schema.String).annotateKey({
      description: "The rehearsal that was shown, which is the newest; null for none."
    }),
    note: Schema.NullOr(nonBlankText(500)).annotateKey({
      description: "Why. Required for NO_GO, and without a rehearsal."
    })
  }),
  wave: Schema.Struct({
    cohort: ShortName,
    starts_on: Schema.NullOr(Schema.String),
    owner: Schema.NullOr(nonBlankText(64)),
    accounts: Schema.NullOr(integer(1, mostAccounts)),
    start: Schema.NullOr(
      Schema.Struct({ time: Schema.String, operations_team_name: Schema.String })
    ).annotateKey({
      description: "When the wave starts by itself on that day; null cancels what is to come."
    })
  }),
  signOff: Schema.Struct({
    import_supplier: Schema.String.annotateKey({ description: "Typed, to confirm." }),
    accept_open: Schema.Boolean,
    reason: reason("to sign off"),
    certificate_id: Schema.NullOr(Schema.String).annotateKey({
      description: "The certificate that was shown, which is the newest; null for none."
    })
  }),
  certificate: Schema.Struct({
    certificate_id: Schema.String.annotateKey({
      description: "A new UUID of the page. Sent again, it gives the certificate that there is."
    }),
    cohort: Schema.NullOr(Schema.String).annotateKey({ description: "Null: all accounts." })
  }),
  invitation: Schema.Struct({
    person: Invited.annotateKey({ description: "A name or an address, for the audit log." })
  }),
  document: Schema.Struct({
    document: Schema.Number.annotateKey({ description: "Its place among the documents, from 0." })
  })
}
