/**
 * The second half of the journey: notes, transactions, statements and a payment instruction are
 * added to the imported account. Each is sent twice to show that a repeat changes nothing. At the
 * end the account is read back.
 */
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import type { ResponsePattern } from "./ResponsePattern.ts"
import { get, instant, keyOf, type Known, post, type Step } from "./Step.ts"

const notesPath = "/v1/data-import/notes/create/"
const transactionsPath = "/v1/data-import/transactions/create/"
const statementsPath = "/v1/data-import/historical-statements/create/"
const instructionPath = "/v1/data-import/payment-instruction/create/"

const notesBody = (known: Known) => ({ ...notesPayload(), ...keyOf(known) })

const noteLines = (status: string): ReadonlyArray<ResponsePattern> =>
  notesPayload().notes.map(({ body = "", created_at = instant }) => ({ created_at, body, status }))

const notes: ReadonlyArray<Step> = [
  {
    title: "Add notes to an account that was never imported",
    request: (known) => {
      const number = `${known.number}-never`
      return post(notesPath, notesBody({ ...known, number }), known.token)
    },
    status: 404,
    body: () => ({ code: "not_found" })
  },
  {
    title: "Add notes: with a text, with documents, without a time",
    request: (known) => post(notesPath, notesBody(known), known.token),
    status: 201,
    body: () => noteLines("NOTE_CREATION_SUCCESS")
  },
  {
    title: "Add them again: they are there already",
    request: (known) => post(notesPath, notesBody(known), known.token),
    status: 201,
    body: () => noteLines("NOTE_ALREADY_EXISTS")
  },
  {
    title: "Add a note whose document is not in the store",
    request: (known) => {
      const document_paths = [{ document_path: "notes/NL-0004711/lost.pdf" }]
      return post(notesPath, { ...keyOf(known), notes: [{ document_paths }] }, known.token)
    },
    status: 400,
    body: () => ({
      code: "request_failed_validation",
      errors: [
        {
          code: "path_does_not_exist_in_file_store",
          attr: "notes.0.document_paths.0.document_path"
        }
      ]
    })
  }
]

/** The sample ledger was closed on the last of February. */
const beforeClosing = {
  transaction_id: "NL-T-2006",
  transaction_date: "2025-02-27",
  amount: 12.5,
  type: "CREDIT",
  reason: "GENERAL_CREDIT",
  display_note: "Goodwill for a late letter"
}

const unmoved = { ...beforeClosing, transaction_id: "NL-T-2007" }

const transactionsBody = (known: Known) => ({
  ...keyOf(known),
  transactions: [...transactionsPayload().transactions, beforeClosing]
})

const results = (
  status: string,
  more: { readonly [member: string]: ResponsePattern }
): ResponsePattern => ({
  results: [
    ...transactionsPayload().transactions.map(({ amount, ...transaction }) => ({
      status,
      transaction_data: { ...transaction, amount: amount.toFixed(2), ...more }
    })),
    {
      status,
      transaction_data: {
        ...beforeClosing,
        transaction_date: "2025-03-01",
        amount: "12.50",
        display_note: /^Goodwill for a late letter .*2025-02-27/,
        ...more
      }
    }
  ]
})

const anyway = { ...beforeClosing, transaction_id: "NL-T-2008", transaction_date: "2025-03-02" }

const addedAnyway = (known: Known) => ({
  ...post(
    `${transactionsPath}?check_previously_added=false`,
    { ...keyOf(known), transactions: [anyway] },
    known.token
  ),
  key: `${known.number}-anyway`
})

const addedOnce: ResponsePattern = {
  results: [
    {
      status: "TRANSACTION_ADDED_TO_ACCOUNT",
      transaction_data: { ...anyway, amount: "12.50" }
    }
  ]
}

const transactions: ReadonlyArray<Step> = [
  {
    title: "Add transactions: the one before the open statement period is moved into it",
    request: (known) => post(transactionsPath, transactionsBody(known), known.token),
    status: 201,
    body: () => results("TRANSACTION_ADDED_TO_ACCOUNT", {})
  },
  {
    title: "Add them again: they are skipped, and the balance stays as it is",
    request: (known) => post(transactionsPath, transactionsBody(known), known.token),
    status: 201,
    body: () => results("TRANSACTION_ALREADY_EXISTS", { status: "TRANSACTION_IMPORT_SUCCESS" })
  },
  {
    title: "Add one under an Idempotency-Key, whether or not it was added earlier",
    request: addedAnyway,
    status: 201,
    body: () => addedOnce
  },
  {
    title: "Send it again, as after a lost answer: the same answer, and nothing is added",
    request: addedAnyway,
    status: 201,
    body: () => addedOnce,
    replayed: true
  },
  {
    title: "Add one before the open statement period that must not be moved",
    request: (known) =>
      post(
        `${transactionsPath}?force_add_to_current_statement=false`,
        { ...keyOf(known), transactions: [unmoved] },
        known.token
      ),
    status: 400,
    body: () => ({
      status: "TRANSACTION_IMPORT_ERROR",
      code: "transaction_outside_open_period",
      error_detail: /2025-02-27/,
      transaction_data: { ...unmoved, amount: "12.50" }
    })
  }
]

const statementsBody = (known: Known) => ({ ...statementsPayload(), ...keyOf(known) })

const statements: ReadonlyArray<Step> = [
  {
    title: "Add historical statements",
    request: (known) => post(statementsPath, statementsBody(known), known.token),
    status: 201,
    body: statementsBody
  },
  {
    title: "Add them again: nothing changes",
    request: (known) => post(statementsPath, statementsBody(known), known.token),
    status: 201,
    body: statementsBody
  },
  {
    title: "Add one of them with another amount",
    request: (known) => {
      const [statement] = statementsPayload().statements
      const altered = { ...statement, gross_amount: 1 }
      return post(statementsPath, { ...keyOf(known), statements: [altered] }, known.token)
    },
    status: 400,
    body: () => ({
      code: "request_failed_validation",
      errors: [{ code: "historical_statement_already_exists", attr: "statements.0" }]
    })
  }
]

const instructionBody = (known: Known) => ({ ...instructionPayload(), ...keyOf(known) })

const created = (known: Known): ResponsePattern => ({
  kraken_account_number: known.accountNumber,
  reference: instructionPayload().reference
})

const instruction: ReadonlyArray<Step> = [
  {
    title: "Add a payment instruction that the vendor does not know",
    request: (known) => {
      const body = { ...instructionBody(known), reference: "pm_missing_NL0004711" }
      return post(instructionPath, body, known.token)
    },
    status: 400,
    body: () => ({ code: "payment_instruction_rejected_by_vendor" })
  },
  {
    title: "Add one that it knows",
    request: (known) => post(instructionPath, instructionBody(known), known.token),
    status: 201,
    body: created
  },
  {
    title: "Add it again: it is there already",
    request: (known) => post(instructionPath, instructionBody(known), known.token),
    status: 201,
    body: created
  },
  {
    title: "Add another one while it is active",
    request: (known) => {
      const body = { ...instructionBody(known), reference: "pm_another_NL0004711" }
      return post(instructionPath, body, known.token)
    },
    status: 400,
    body: () => ({ code: "active_payment_instruction_exists" })
  }
]

const accountPath = ({ accountNumber }: Known) => `/v1/data-import/accounts/${accountNumber}/`

const readBack: ReadonlyArray<Step> = [
  {
    title: "Read the account back, with what was added to it",
    request: (known) => get(accountPath(known), known.token),
    status: 200,
    body: (known) => ({
      kraken_account_number: known.accountNumber,
      ...keyOf(known),
      balance: /^-?\d+\.\d{2}$/,
      account: { ...keyOf(known), date_of_sale: domesticPayload().date_of_sale },
      added: { payment_instructions: [{ reference: instructionPayload().reference }] }
    })
  },
  {
    title: "Read it as the other organisation: it is not there",
    request: (known) => get(accountPath(known), known.rivalToken),
    status: 404,
    body: () => ({ code: "not_found" })
  }
]

/** In the order in which they are walked, after the account journey. */
export const postImportJourney: ReadonlyArray<Step> = [
  notes,
  transactions,
  statements,
  instruction,
  readBack
].flat()
