/**
 * The requests that add data to an imported account: notes, transactions, historical statements and
 * a payment instruction. The handlers read and validate the bodies. The schemas here are
 * documentation.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Requests from "@data-import/domain/additions/ExampleRequests"
import {
  InstructionRequest,
  NotesRequest,
  StatementsRequest,
  TransactionsRequest
} from "@data-import/domain/additions/PostImportValidation"
import { onDifferenceValues } from "@data-import/domain/schema/OnDifference"
import { HistoricalStatementBody, keyWords, NoteBody, TransactionBody } from "./AccountBody.ts"
import { requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { anyBody, anyKeyed, anyProtected, errorBodies, Parameters } from "./ErrorBody.ts"
import {
  differenceRefusal,
  duplicateRefusal,
  itemsRefusal,
  notesAnswer,
  periodRefusal,
  sampleNumber,
  transactionsAnswer
} from "./Examples.ts"
import { InstantText } from "./DecimalSchema.ts"
import { created, KeyRefusal, operation } from "./Operation.ts"
import { flag, oneOf } from "./Parameter.ts"
import { storedTransaction } from "./StoredTransaction.ts"

const atLeastOne = (description: string) => ({ description, minItems: 1 })

const NotesBody = documented(
  "NotesRequest",
  "Notes for an imported account.",
  NotesRequest,
  { ...keyWords, notes: atLeastOne("The notes, in the order in which they are created.") },
  { notes: NoteBody }
)

/** An element of the response of the notes import, in the order of the request. */
const NoteResult = Schema.Struct({
  created_at: InstantText.annotateKey({
    description: "When the note on the account was written, in UTC."
  }),
  body: Schema.String.annotate({ description: "Its text; empty for a note without one." }),
  status: Schema.Literals(["NOTE_CREATION_SUCCESS", "NOTE_ALREADY_EXISTS"]).annotate({
    description:
      "NOTE_ALREADY_EXISTS: a note with this body, and this created_at where one was sent, was there."
  }),
  differs: Schema.optionalKey(Schema.Literal(true)).annotate({
    description:
      "The note that was there has another pin, unpin_at or documents. It did not change."
  })
}).annotate({ identifier: "NoteResult", description: "What became of one note." })

const TransactionsBody = documented(
  "TransactionsRequest",
  "Transactions for an imported account.",
  TransactionsRequest,
  { ...keyWords, transactions: atLeastOne("The transactions: all are added, or none.") },
  { transactions: TransactionBody }
)

/** A transaction in a response, with `amount` as text with two decimals. */
const TransactionData = Schema.Struct({
  ...storedTransaction.fields,
  status: Schema.optionalKey(
    Schema.Literal("TRANSACTION_IMPORT_SUCCESS").annotate({
      description: "On a transaction that was added earlier: the result of that import."
    })
  )
}).annotate({
  identifier: "TransactionData",
  description:
    "A transaction as stored; one that was added earlier is shown as it was sent to callers without " +
    "`account:read`."
})

/** The response of the transactions import, in the order of the request. */
const TransactionResults = Schema.Struct({
  results: Schema.Array(
    Schema.Struct({
      status: Schema.Literals([
        "TRANSACTION_ADDED_TO_ACCOUNT",
        "TRANSACTION_ALREADY_EXISTS"
      ]).annotate({
        description: "TRANSACTION_ALREADY_EXISTS: it was added earlier and is skipped now."
      }),
      differs: Schema.optionalKey(Schema.Literal(true)).annotateKey({
        description: "It was added earlier with another content, which stays."
      }),
      transaction_data: TransactionData
    }).annotate({ identifier: "TransactionResult", description: "What became of one transaction." })
  ).annotate({ description: "One result for each transaction." })
}).annotate({ identifier: "TransactionResults", description: "What became of the transactions." })

/** The 400 of a transaction that cannot be added. Nothing of the request is stored. */
export const TransactionImportError = Schema.Struct({
  status: Schema.Literal("TRANSACTION_IMPORT_ERROR").annotate({ description: "Always this." }),
  code: Schema.Literals([
    "duplicate_transaction_ids",
    "transaction_outside_open_period",
    "too_many_existing_items",
    "transaction_differs"
  ]).annotate({ description: "Why it cannot be added. Stable for ever." }),
  error_detail: Schema.String.annotate({
    description: "The reason, for humans; the wording may change."
  }),
  parameters: Schema.optionalKey(Parameters),
  transaction_data: TransactionData.annotateKey({
    description: "The first transaction, in the order of the request, that cannot be added."
  })
}).annotate({
  identifier: "TransactionImportError",
  description: "A transaction cannot be added; none is.",
  httpApiStatus: 400
})

/** The parameters of the notes import, decoded from the text in the URL, as below. */
const NoteParameters = Schema.Struct({
  on_difference: Schema.optionalKey(oneOf(onDifferenceValues))
})

const onDifference = (description: string) => ({
  on_difference: {
    description,
    schema: { type: "string", enum: onDifferenceValues, default: "keep" },
    example: "fail"
  }
})

const TransactionParameters = Schema.Struct({
  check_previously_added: Schema.optionalKey(flag),
  force_add_to_current_statement: Schema.optionalKey(flag),
  ...NoteParameters.fields
})

const StatementsBody = documented(
  "HistoricalStatementsRequest",
  "Historical statements for an imported account.",
  StatementsRequest,
  { ...keyWords, statements: atLeastOne("The statements: all are stored, or none.") },
  { statements: HistoricalStatementBody }
)

const InstructionBody = documented(
  "PaymentInstructionRequest",
  "A payment instruction for an imported account.",
  InstructionRequest,
  {
    ...keyWords,
    vendor: {
      description: "The code of the payment vendor that holds the instruction.",
      examples: ["STRIPE", "GOCARDLESS"]
    },
    reference: {
      description: "The vendor's reference of the instruction.",
      examples: ["pm_fake_7Qd31zNL0004711"]
    },
    type: "What kind of instruction it is; the vendor must offer it."
  }
)

/** The response of the payment instruction import. */
const StoredInstruction = Schema.Struct({
  kraken_account_number: Schema.String.annotate({ description: "The platform account." }),
  reference: Schema.String.annotate({ description: "The vendor's reference, as sent." })
}).annotate({ identifier: "StoredInstruction", description: "The instruction is on the account." })

const anyWrite = [
  "request_failed_validation",
  "import_supplier_migration_not_ongoing",
  "account_reverted",
  ...anyKeyed,
  ...anyBody,
  ...anyProtected
] as const

const createNotes = HttpApiEndpoint.post("createNotes", "/v1/data-import/notes/create/", {
  query: NoteParameters,
  payload: NotesBody,
  success: created(
    Schema.Array(NoteResult).annotate({
      description: "One result for each note, in the order of the request."
    })
  ),
  error: errorBodies(["account_import_process_erased", "not_found", ...anyWrite])
})
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Create notes",
      "Adds notes to an imported account. A note that is there already is not added again, so that a " +
        "retry is safe.",
      {
        parameters: onDifference(
          "What becomes of a note that is there with another pin, unpin_at or documents: it is kept " +
            "as it is, or the request fails with `note_differs` and adds nothing."
        ),
        requests: { notes: { summary: "Three notes", value: Requests.notesRequest } },
        answers: { 201: { notes: { summary: "Two created, one was there", value: notesAnswer } } }
      }
    )
  )
  .pipe(requires("import:write"))

const createTransactions = HttpApiEndpoint.post(
  "createTransactions",
  "/v1/data-import/transactions/create/",
  {
    query: TransactionParameters,
    payload: TransactionsBody,
    success: created(TransactionResults),
    error: [
      ...errorBodies(["account_import_process_erased", "not_found", ...anyWrite]),
      TransactionImportError
    ]
  }
)
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Create transactions",
      "Adds financial transactions to an imported account, all of them or none, and moves its " +
        "balance. The open statement period starts the day after the latest closing date of the " +
        "account's ledgers and ends today, in the supplier's time zone. A transaction that breaks no rule " +
        "and cannot be added is a 400 with a body of its own, TransactionImportError.",
      {
        parameters: {
          check_previously_added: {
            description:
              "Whether a transaction that was added earlier is skipped. With false it is added " +
              "again, as its own entry; send an Idempotency-Key, so that a retry does not.",
            schema: { type: "boolean", default: true },
            example: true
          },
          force_add_to_current_statement: {
            description:
              "Whether a transaction outside the open statement period is moved to the nearest day " +
              "inside, with a sentence in its display note and a pinned note on the account. With " +
              "false it fails.",
            schema: { type: "boolean", default: true },
            example: true
          },
          ...onDifference(
            "What becomes of a transaction that was added earlier with other content: it is kept as it " +
              "is and marked with `differs`, or the request fails with `transaction_differs` and adds " +
              "nothing."
          )
        },
        requests: {
          transactions: { summary: "Every type once", value: Requests.transactionsRequest }
        },
        answers: {
          201: { added: { summary: "One added, one was there", value: transactionsAnswer } },
          400: {
            transaction_outside_open_period: {
              summary: "A transaction outside the period, and force_add_to_current_statement=false",
              value: periodRefusal
            },
            duplicate_transaction_ids: {
              summary: "A transaction id twice in the request",
              value: duplicateRefusal
            },
            too_many_existing_items: {
              summary: "Earlier transactions with many more items than are sent",
              value: itemsRefusal
            },
            transaction_differs: {
              summary: "Another transaction of the same id, and on_difference=fail",
              value: differenceRefusal
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const createHistoricalStatements = HttpApiEndpoint.post(
  "createHistoricalStatements",
  "/v1/data-import/historical-statements/create/",
  {
    payload: StatementsBody,
    success: created(StatementsBody),
    error: errorBodies(["account_import_process_erased", "not_found", ...anyWrite])
  }
)
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Create historical statements",
      "Adds statements of the past to an imported account, all of them or none, and answers the " +
        "validated data. A statement that is there gets the fields that it lacks; one with another " +
        "value in a field is refused.",
      {
        requests: { statements: { summary: "Two statements", value: Requests.statementsRequest } },
        answers: { 201: { statements: { summary: "Stored", value: Requests.statementsRequest } } }
      }
    )
  )
  .pipe(requires("import:write"))

const createPaymentInstruction = HttpApiEndpoint.post(
  "createPaymentInstruction",
  "/v1/data-import/payment-instruction/create/",
  {
    payload: InstructionBody,
    success: created(StoredInstruction),
    error: errorBodies([
      "import_process_does_not_exist",
      "account_import_process_erased",
      "account_not_found",
      "active_payment_instruction_exists",
      "payment_instruction_rejected_by_vendor",
      "payment_vendor_unreachable",
      "payment_vendor_unavailable",
      ...anyWrite
    ])
  }
)
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Create a payment instruction",
      "Asks the vendor whether the instruction exists, and puts it on an imported account. The same " +
        "instruction again changes nothing. A 400 must not be sent again unchanged; a 500 is to be " +
        "sent again as it is.",
      {
        requests: { card: { summary: "A card", value: Requests.instructionRequest } },
        answers: {
          201: {
            stored: {
              summary: "Stored",
              value: {
                kraken_account_number: sampleNumber,
                reference: Requests.instructionRequest.reference
              }
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:write"))

/** What the post-import service serves. */
export const PostImportGroup = HttpApiGroup.make("postImport", { topLevel: true })
  .add(createNotes, createTransactions, createHistoricalStatements, createPaymentInstruction)
  .annotateMerge(
    OpenApi.annotations({
      title: "Post-import",
      description: "Further data for an account that was imported, and not merely staged."
    })
  )
