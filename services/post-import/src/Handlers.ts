/** The post-import endpoints over HTTP: each handler calls one program and wraps its answer. */
import { Effect, Result } from "effect"
import { PostImportGroup } from "@data-import/api/PostImportApi"
import {
  notesAnswer,
  TransactionsAnswer,
  transactionsAnswer
} from "@data-import/api/PostImportAnswer"
import {
  type NoteParameters,
  PostImport,
  type TransactionParameters
} from "@data-import/domain/additions/PostImport"
import type { OnDifference } from "@data-import/domain/schema/OnDifference"
import { StatementsRequest } from "@data-import/domain/additions/PostImportValidation"
import * as Answer from "@data-import/server/http/Answer"
import { type WriteCall, writing } from "@data-import/server/routing/IdempotencyHeader"
import * as Route from "@data-import/server/routing/Route"

const statementsStored = Answer.encoded(201, StatementsRequest)

const transactionsAdded = Answer.encoded(201, TransactionsAnswer)

interface SentNoteParameters {
  readonly on_difference?: OnDifference
}

interface SentParameters extends SentNoteParameters {
  readonly check_previously_added?: boolean
  readonly force_add_to_current_statement?: boolean
}

const withNoteDefaults = ({ on_difference = "keep" }: SentNoteParameters): NoteParameters => ({
  onDifference: on_difference
})

const withDefaults = ({
  check_previously_added = true,
  force_add_to_current_statement = true,
  ...sent
}: SentParameters): TransactionParameters => ({
  ...withNoteDefaults(sent),
  checkPreviouslyAdded: check_previously_added,
  forceAddToCurrentStatement: force_add_to_current_statement
})

export const routes = Effect.gen(function* () {
  const postImport = yield* PostImport
  const write = yield* writing

  return Route.handle(PostImportGroup, {
    createNotes: write(
      ({ body, caller, recorder, parameters }: WriteCall<SentNoteParameters>) =>
        postImport.createNotes(caller, body, Result.map(parameters, withNoteDefaults), recorder),
      (results) => Answer.small(201, notesAnswer(results))
    ),
    createTransactions: write(
      ({ body, caller, recorder, parameters }: WriteCall<SentParameters>) =>
        postImport.createTransactions(caller, body, Result.map(parameters, withDefaults), recorder),
      (results, { caller }) =>
        transactionsAdded(
          transactionsAnswer(results, { readsAccounts: caller.scopes.includes("account:read") })
        )
    ),
    createHistoricalStatements: write(
      ({ body, caller, recorder, parameters }) =>
        postImport.createStatements(caller, body, recorder, Route.parameterErrors(parameters)),
      ({ request }) => statementsStored(request)
    ),
    createPaymentInstruction: write(
      ({ body, caller, recorder, parameters }) =>
        postImport.createPaymentInstruction(
          caller,
          body,
          recorder,
          Route.parameterErrors(parameters)
        ),
      ({ kraken_account_number, reference }) =>
        Answer.small(201, { kraken_account_number, reference })
    )
  })
})
