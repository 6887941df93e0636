/**
 * Reading accounts back, one or all of a supplier. It needs a scope of its own, because an answer
 * is personal data. An account of another organisation is reported as unknown.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AccountBody, HistoricalStatementBody, NoteBody } from "./AccountBody.ts"
import { storedAccount } from "./AccountExamples.ts"
import { requires } from "./Authorization.ts"
import { InstantText, SumText } from "./DecimalSchema.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { sampleKey, sampleNumber } from "./Examples.ts"
import { operation } from "./Operation.ts"
import { plainText } from "./Parameter.ts"
import { storedTransaction } from "./StoredTransaction.ts"

const nullable = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description: `${description}; null where it is not known.` })

const AddedTransaction = Schema.Struct({
  ...storedTransaction.fields,
  moved_from_date: Schema.optionalKey(
    Schema.String.annotate({
      description: "The date that was sent, where the transaction was moved into the open period.",
      format: "date"
    })
  )
}).annotate({ identifier: "AddedTransaction", description: "A transaction that was added later." })

const AddedInstruction = Schema.Struct({
  vendor: Schema.String.annotate({ description: "The payment vendor." }),
  reference: Schema.String.annotate({ description: "The vendor's reference." }),
  type: Schema.String.annotate({ description: "What kind of instruction it is." }),
  details: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description:
      "What the vendor told of it. Of a CARD: brand, last_four, expiry_month, expiry_year. Of a " +
      "DIRECT_DEBIT: bank_name, status."
  }),
  ended_at: Schema.NullOr(InstantText).annotate({
    description: "When the operator ended it; null while it is active."
  })
}).annotate({ identifier: "AddedInstruction", description: "A payment instruction." })

const AddedItems = Schema.Struct({
  transactions: Schema.Array(AddedTransaction).annotate({ description: "Added transactions." }),
  notes: Schema.Array(NoteBody).annotate({
    description: "Added notes; `created_at` and `is_pinned` are always there."
  }),
  statements: Schema.Array(HistoricalStatementBody).annotate({ description: "Added statements." }),
  payment_instructions: Schema.Array(AddedInstruction).annotate({
    description: "All payment instructions; at most one is active."
  })
}).annotate({
  identifier: "AddedItems",
  description: "What was added after the import, in the order in which it was added."
})

const NamedDocument = Schema.Struct({
  document_path: Schema.String.annotate({ description: "The path, as it was sent." }),
  size: nullable(Schema.Finite, "The size of the file in bytes"),
  etag: nullable(Schema.String, "The ETag of the file"),
  checksum: nullable(Schema.String, "The checksum of the file")
}).annotate({
  identifier: "NamedDocument",
  description: "A document that a note or statement names, as the store knew it at that time."
})

const LedgerBalance = Schema.Struct({
  ledger_code: Schema.String.annotate({ description: "The code of the ledger." }),
  balance: SumText.annotateKey({ description: "The balance that the payload gave the ledger." })
}).annotate({ identifier: "LedgerBalance", description: "The balance of one ledger." })

/** An account with what was added to it. */
export const StoredAccountBody = Schema.Struct({
  kraken_account_number: Schema.String.annotate({
    description: "The number of the platform account."
  }),
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  external_account_number: Schema.String.annotate({
    description: "The account number at the supplier."
  }),
  account_created_at: InstantText.annotateKey({ description: "When the account was created." }),
  reverted_at: Schema.NullOr(InstantText).annotate({
    description: "When it was reverted; null while it is the account of its import."
  }),
  operations_team_name: Schema.String.annotate({
    description: "The team under which the account was created."
  }),
  balance: SumText.annotateKey({
    description: "The balance now, with what was added: text with two decimals."
  }),
  ledger_balances: Schema.Array(LedgerBalance).annotate({
    description:
      "By ledger, without what was added. With the added transactions they make the balance; an " +
      "account without ledgers starts with its transfer_balance."
  }),
  account: AccountBody.annotateKey({
    description: "The account as it was imported: exactly what validate answered."
  }),
  added: AddedItems.annotateKey({ description: "What was added after the import." }),
  documents: Schema.Array(NamedDocument).annotate({
    description: "The documents that notes and then statements name, those of `added` included."
  })
}).annotate({ identifier: "StoredAccount", description: "An account as it is stored." })
export type StoredAccountBody = typeof StoredAccountBody.Type

const root = "/v1/data-import/accounts/"

const errors = () => errorBodies(["request_failed_validation", "not_found", ...anyProtected])

const getAccount = HttpApiEndpoint.get("getAccount", `${root}:kraken_account_number/`, {
  params: { kraken_account_number: Schema.String },
  success: StoredAccountBody,
  error: errors()
})
  .annotateMerge(
    operation(
      "Get an account",
      "An account as it is stored: what was imported, what was added later, and its balance. Each " +
        "read is recorded in the audit log. A large answer is streamed; a connection that breaks " +
        "before its end is a failure.",
      {
        parameters: {
          kraken_account_number: {
            description: "The number of the platform account.",
            schema: { type: "string" },
            example: sampleNumber
          }
        },
        answers: {
          200: { imported: { summary: "An account with one addition", value: storedAccount } }
        }
      }
    )
  )
  .pipe(requires("account:read"))

const listAccounts = HttpApiEndpoint.get("listAccounts", root, {
  query: Schema.Struct({ import_supplier: plainText }),
  success: HttpApiSchema.StreamNdjson({ schema: StoredAccountBody }),
  error: errors()
})
  .annotateMerge(
    operation(
      "Read all accounts",
      "All accounts of a supplier, one on each line as `application/x-ndjson`, in the order of their " +
        "external account numbers. The read is recorded in the audit log when it begins. A " +
        "connection that breaks before its end is a failure.",
      {
        parameters: {
          import_supplier: {
            description: "The supplier's code. One that is unknown or not the caller's is a 404.",
            schema: { type: "string" },
            example: sampleKey.import_supplier
          }
        },
        answers: { 200: { one: { summary: "One account", value: storedAccount } } }
      }
    )
  )
  .pipe(requires("account:read"))

/** What the query service serves of accounts. */
export const AccountGroup = HttpApiGroup.make("accounts", { topLevel: true })
  .add(getAccount, listAccounts)
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts",
      description: "Imported accounts, read back with everything that was added to them."
    })
  )
