/**
 * What the board shows of one account, and of the audit log. Personal data is masked: a text is
 * reduced to its first character and length. `reveal` answers it unmasked and is audited.
 * Source: docs/contract/board.md.
 */
import { Schema } from "effect"
import { BoardRole } from "@data-import/domain/access/BoardUser"
import { AdditionCounts } from "@data-import/domain/additions/AdditionCounts"
import { InstantText } from "../DecimalSchema.ts"
import { CommentBody } from "./Comments.ts"

/** The text of an error; its detail is masked. */
export const errorText = {
  detail: Schema.String,
  business_day: Schema.NullOr(Schema.String).annotateKey({
    description: "The day by which it was judged, if another day may decide otherwise."
  })
}

export const additionCounts = AdditionCounts.annotateKey({
  description: "What was added after the import."
})

export const FieldErrorBody = Schema.Struct({
  code: Schema.String,
  attr: Schema.String,
  ...errorText
})

const Cohort = Schema.NullOr(Schema.String)

export const MoveBody = Schema.Struct({
  move_id: Schema.String,
  at: InstantText,
  by: Schema.String.annotateKey({ description: "As `who` of the audit log." }),
  from: Schema.Array(Schema.Struct({ cohort: Cohort, accounts: Schema.Int })).annotateKey({
    description: "How many accounts had which cohort before; null for none."
  }),
  to: Schema.Array(Cohort).annotateKey({
    description: "One, unless it is an undo: then the cohorts that the accounts have again."
  }),
  accounts: Schema.Int,
  undoes: Schema.NullOr(Schema.String).annotateKey({
    description: "The move that it undoes; null if it is no undo."
  }),
  undone_by: Schema.NullOr(Schema.String)
})

export const MoveDetailBody = Schema.Struct({
  ...MoveBody.fields,
  can_undo: Schema.Boolean.annotateKey({
    description: "Whether an undo would restore exactly what was before."
  })
})

export const AuditEntryBody = Schema.Struct({
  id: Schema.String,
  at: InstantText,
  organisation: Schema.String,
  who: Schema.String.annotateKey({
    description: "The API key's id, `operator:` and a name, or `board:` and a name."
  }),
  action: Schema.String,
  outcome: Schema.String,
  failed: Schema.Boolean.annotateKey({
    description: "Whether the outcome is the code of a refusal or a failure: it was not done."
  }),
  import_supplier: Schema.NullOr(Schema.String),
  external_account_number: Schema.NullOr(Schema.String),
  request_id: Schema.String,
  move: Schema.NullOr(MoveBody).annotateKey({
    description: "Of `move_accounts`, unless it was refused. Null in the entries of an account."
  }),
  comment: Schema.NullOr(CommentBody).annotateKey({ description: "The same, of `comment`." })
})

export const BoardAccountBody = Schema.Struct({
  import_supplier: Schema.String,
  external_account_number: Schema.String,
  kraken_account_number: Schema.NullOr(Schema.String),
  state: Schema.String,
  cohort: Schema.NullOr(Schema.String),
  staged_at: InstantText,
  times_staged: Schema.Int,
  account_created_at: Schema.NullOr(InstantText),
  balance: Schema.NullOr(Schema.String),
  attempts: Schema.Array(
    Schema.Struct({
      started_at: InstantText,
      ended_at: Schema.NullOr(InstantText),
      dry_run: Schema.Boolean,
      outcome: Schema.String,
      code: Schema.NullOr(Schema.String),
      meaning: Schema.NullOr(Schema.String),
      errors: Schema.Array(FieldErrorBody),
      passed_by_day: Schema.NullOr(
        Schema.Struct({
          failed_at: InstantText,
          failed_on: Schema.String.annotateKey({ description: "By which day it was judged then." }),
          business_day: Schema.String,
          alone: Schema.Boolean.annotateKey({
            description: "Whether the rules and the configuration were the same."
          })
        })
      ).annotateKey({
        description:
          "If it passed, and the attempt before failed with the same account by rules about the " +
          "business day alone: that attempt."
      })
    })
  ),
  stored: Schema.NullOr(Schema.Unknown).annotateKey({
    description: "The staged payload, masked; null once it was deleted."
  }),
  added: additionCounts,
  revert_until: Schema.NullOr(InstantText).annotateKey({
    description: "When its window closes; null without an account, or once it is signed off."
  }),
  reverted: Schema.Array(
    Schema.Struct({
      kraken_account_number: Schema.String,
      account_created_at: InstantText,
      reverted_at: InstantText,
      reverted_by: Schema.NullOr(Schema.String).annotateKey({
        description: "As `who` of the audit log; null if the entry is not in `audit`."
      }),
      reason: Schema.NullOr(Schema.String).annotateKey({ description: "Null once erased." })
    })
  ).annotateKey({ description: "The accounts that the import had before, the newest first." }),
  moves: Schema.Array(
    Schema.Struct({
      move_id: Schema.String,
      at: InstantText,
      by: Schema.String,
      from: Cohort,
      to: Cohort,
      is_undo: Schema.Boolean
    })
  ).annotateKey({ description: "Those that it was in, the newest first; at most 50." }),
  documents: Schema.Array(
    Schema.Struct({
      document_path: Schema.String.annotateKey({ description: "Masked; links name its place." }),
      size: Schema.NullOr(Schema.Int)
    })
  ),
  audit: Schema.Array(AuditEntryBody).annotateKey({
    description: "The newest first; at most 100."
  }),
  audit_seal: Schema.NullOr(
    Schema.Struct({
      entries: Schema.Int,
      holds: Schema.Boolean,
      broken_at: Schema.NullOr(Schema.String).annotateKey({
        description: "The id of the first entry that is not as it was written."
      })
    })
  ).annotateKey({
    description: "Null for a user of the supplier, for whom `audit` and `moves` are empty."
  })
})

export const RevealedBody = Schema.Struct({ stored: Schema.Unknown })

export const DocumentLinkBody = Schema.Struct({
  url: Schema.String,
  expires_at: InstantText
})

export const AuditBody = Schema.Struct({
  entries: Schema.Array(AuditEntryBody),
  next_before: Schema.NullOr(Schema.String),
  stopped: Schema.Boolean.annotateKey({
    description:
      "Whether the search has stopped before the page was full. Older entries may match: go on with " +
      "`next_before`."
  })
})

export const SessionBody = Schema.Struct({
  name: Schema.String,
  role: BoardRole,
  organisations: Schema.NullOr(Schema.Array(Schema.String)).annotateKey({
    description: "Those the user may see; null for all. Empty for the role `supplier`."
  }),
  import_suppliers: Schema.NullOr(Schema.Array(Schema.String)).annotateKey({
    description: "Those that the role `supplier` may see; null for another role."
  }),
  csrf_token: Schema.String.annotateKey({
    description: "To be sent as X-CSRF-Token with everything but GET."
  }),
  idle_until: InstantText,
  ends_at: InstantText,
  is_prolonged: Schema.Boolean,
  prolongs_by: Schema.NullOr(Schema.Int).annotateKey({
    description: "The seconds by which the user may prolong it; null if not."
  })
})

export const TeamsBody = Schema.Struct({ teams: Schema.Array(Schema.String) })
