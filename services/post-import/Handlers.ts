/** The post-import endpoints over HTTP: each handler calls one program and wraps its answer. */
import { Effect, Result } from "effect"
import { PostImportGroup, readTransactionParameters } from "@data-import/api/PostImportApi"
import { formatInstant } from "@data-import/domain/Field"
import type { NoteResult } from "@data-import/domain/NoteImport"
import { PostImport } from "@data-import/domain/PostImport"
import { encodeStatementsRequest } from "@data-import/domain/PostImportValidation"
import { encodeTransaction } from "@data-import/domain/Transaction"
import type { TransactionResult } from "@data-import/domain/TransactionImport"
import * as Answer from "@data-import/server/Answer"
import * as Route from "@data-import/server/Route"

const noteLine = ({ body, created_at, status }: NoteResult) => ({
  created_at: formatInstant(created_at),
  body,
  status
})

/** One that existed also tells the result of its own import. */
const transactionLine = ({ status, transaction }: TransactionResult) => ({
  status,
  transaction_data:
    status === "TRANSACTION_ALREADY_EXISTS"
      ? { ...encodeTransaction(transaction), status: "TRANSACTION_IMPORT_SUCCESS" }
      : encodeTransaction(transaction)
})

const parametersOf = (query: Route.Call["query"]) =>
  Result.map(
    readTransactionParameters(query),
    ({ check_previously_added = true, force_add_to_current_statement = true }) => ({
      checkPreviouslyAdded: check_previously_added,
      forceAddToCurrentStatement: force_add_to_current_statement
    })
  )

export const routes = Effect.map(PostImport, (postImport) =>
  Route.handle(PostImportGroup, {
    createNotes: ({ body, caller }) =>
      Effect.map(postImport.createNotes(caller, body), (results) =>
        Answer.json(201, results.map(noteLine))
      ),
    createTransactions: ({ body, caller, query }) =>
      Effect.map(postImport.createTransactions(caller, body, parametersOf(query)), (results) =>
        Answer.json(201, { results: results.map(transactionLine) })
      ),
    createHistoricalStatements: ({ body, caller }) =>
      Effect.map(postImport.createStatements(caller, body), (request) =>
        Answer.json(201, encodeStatementsRequest(request))
      ),
    createPaymentInstruction: ({ body, caller }) =>
      Effect.map(postImport.createPaymentInstruction(caller, body), (created) =>
        Answer.json(201, created)
      )
  })
)
