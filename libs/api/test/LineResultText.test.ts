import { refusals } from "../src/RefusalExamples.ts"
import { DateTime, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { Transaction } from "@data-import/domain/accounts/Transaction"
import type { BatchOperation } from "@data-import/domain/batches/Batch"
import {
  LineErrored,
  type LineFailure,
  type LineResult,
  LineTooLong,
  redact
} from "@data-import/domain/batches/LineResult"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import {
  AlreadyImported,
  TransactionRefused,
  ValidationFailed
} from "@data-import/domain/requests/Failure"
import { LineResultBody } from "../src/BatchBody.ts"
import { errorResponseOf } from "../src/ErrorResponse.ts"
import { resultEncoderOf } from "../src/LineResultText.ts"

const number = AccountNumber.make("A-12345678")
const key = {
  import_supplier: SupplierCode.make("ACME"),
  external_account_number: ExternalAccountNumber.make("NL-1")
}
const at = DateTime.makeUnsafe("2026-07-01T08:00:00Z")
const transaction = Schema.decodeUnknownSync(Transaction)({
  transaction_id: "T-1",
  type: "PAYMENT",
  transaction_date: "2026-06-30",
  amount: "12.50"
})

const resultOf = (result: Partial<LineResult>): LineResult => ({
  outcome: "SUCCEEDED",
  accountNumber: null,
  answer: null,
  failure: null,
  ...result
})

const encoded = (operation: BatchOperation, result: Partial<LineResult>): unknown => {
  const line = { line: 7, externalAccountNumber: "NL-1", sourceLine: null }
  const text = resultEncoderOf(operation)(line, resultOf(result))
  expect(text).not.toContain("\n")
  const body: unknown = JSON.parse(text)
  expect(() => Schema.decodeUnknownSync(LineResultBody)(body)).not.toThrow()
  return body
}

const line = { line: 7, external_account_number: "NL-1" }

const successes: ReadonlyArray<readonly [BatchOperation, Partial<LineResult>, unknown]> = [
  ["VALIDATE", {}, { status: 200 }],
  ["STAGE", { answer: { _tag: "Staged", isFirst: true } }, { status: 201 }],
  ["STAGE", { answer: { _tag: "Staged", isFirst: false } }, { status: 200 }],
  ["IMPORT", { accountNumber: number }, { status: 201, kraken_account_number: number }],
  ["PROCESS", { accountNumber: number }, { status: 201, kraken_account_number: number }],
  ["IMPORT", { failure: refusals.DryRunSuccessful }, { status: 400 }],
  ["STATEMENTS", {}, { status: 201 }],
  [
    "PAYMENT_INSTRUCTIONS",
    { accountNumber: number },
    { status: 201, kraken_account_number: number }
  ],
  [
    "NOTES",
    {
      answer: {
        _tag: "Notes",
        results: [{ body: "new", created_at: at, status: "NOTE_CREATION_SUCCESS" }]
      }
    },
    { status: 201 }
  ],
  [
    "NOTES",
    {
      answer: {
        _tag: "Notes",
        results: [
          { body: "new", created_at: at, status: "NOTE_CREATION_SUCCESS" },
          { body: "", created_at: at, status: "NOTE_ALREADY_EXISTS" }
        ]
      }
    },
    {
      status: 201,
      answer: [
        { created_at: "2026-07-01T08:00:00Z", body: "new", status: "NOTE_CREATION_SUCCESS" },
        { created_at: "2026-07-01T08:00:00Z", body: "", status: "NOTE_ALREADY_EXISTS" }
      ]
    }
  ],
  [
    "TRANSACTIONS",
    {
      answer: {
        _tag: "Transactions",
        results: [{ status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction, sent: transaction }]
      }
    },
    { status: 201 }
  ],
  [
    "TRANSACTIONS",
    {
      answer: {
        _tag: "Transactions",
        results: [
          { status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction, sent: transaction, isMoved: true },
          { status: "TRANSACTION_ALREADY_EXISTS", transaction, sent: transaction, differs: true }
        ]
      }
    },
    {
      status: 201,
      answer: {
        results: [
          {
            status: "TRANSACTION_ADDED_TO_ACCOUNT",
            transaction_data: {
              transaction_id: "T-1",
              type: "PAYMENT",
              transaction_date: "2026-06-30",
              amount: "12.50"
            }
          },
          {
            status: "TRANSACTION_ALREADY_EXISTS",
            differs: true,
            transaction_data: {
              transaction_id: "T-1",
              type: "PAYMENT",
              transaction_date: "2026-06-30",
              amount: "12.50",
              status: "TRANSACTION_IMPORT_SUCCESS"
            }
          }
        ]
      }
    }
  ]
]

const invalid = new ValidationFailed({
  code: "account_failed_validation",
  errors: [{ attr: "customers.0.landline", code: "invalid_phone_number", detail: "No." }]
})
const alreadyImported = new AlreadyImported({ key, accountNumber: number, isSame: true })
const requestId = RequestId.make("batch-1")

const refused = new TransactionRefused({
  code: "duplicate_transaction_ids",
  transaction,
  detail: "Twice."
})

const personalRefusal = new TransactionRefused({
  code: "duplicate_transaction_ids",
  transaction: { ...transaction, note: "Mo asked for a refund" },
  detail: "Mo"
})

const failures: ReadonlyArray<readonly [BatchOperation, LineFailure, number, string]> = [
  ["STAGE", invalid, 400, "account_failed_validation"],
  ["IMPORT", alreadyImported, 400, "account_import_process_already_imported"],
  ["TRANSACTIONS", refused, 400, "duplicate_transaction_ids"],
  ["VALIDATE", new LineTooLong(), 413, "payload_too_large"],
  ["NOTES", new LineErrored({ requestId }), 500, "error"]
]

describe("the result of a line", () => {
  it.each(successes)("of %s is that of the single endpoint: %j", (operation, result, body) => {
    const expected = { ...line, outcome: "SUCCEEDED", ...(body as object) }
    expect(encoded(operation, result)).toStrictEqual(expected)
  })

  it.each(failures)("of %s has the error that is answered to %s", (operation, failure, status) => {
    const body = encoded(operation, { outcome: "FAILED", failure })
    expect(body).toMatchObject({ ...line, outcome: "FAILED", status })
    expect(body).not.toHaveProperty("answer")
  })

  it.each(failures)("of %s has the code of %s", (operation, failure, _status, code) => {
    const body = encoded(operation, { outcome: "FAILED", failure })
    expect(body).toMatchObject({ error: { code } })
  })

  it("has the whole body of an error", () => {
    const body = encoded("STAGE", { outcome: "FAILED", failure: invalid })
    expect(body).toHaveProperty("error", errorResponseOf(invalid).body)
  })

  it.each([
    ["TRANSACTIONS", personalRefusal],
    [
      "STAGE",
      new ValidationFailed({
        code: "account_failed_validation",
        errors: [
          {
            attr: "ledgers.0",
            code: "current_statement_transaction_before_last_statement_closing_date",
            detail: "Mo",
            parameters: { limit: "2026-01-01", ids: ["Mo-1"] }
          }
        ]
      })
    ]
  ] as const)(
    "of %s keeps nothing that was sent when its lines are deleted",
    (operation, failure) => {
      const text = resultEncoderOf(operation)(
        { line: 7, externalAccountNumber: "NL-1", sourceLine: null },
        resultOf({ outcome: "FAILED", failure })
      )
      expect(text).toContain("Mo")
      expect(redact(text)).not.toContain("Mo")
      expect(JSON.parse(redact(text))).toMatchObject({
        outcome: "FAILED",
        error: { code: failure.code }
      })
      expect(() => Schema.decodeUnknownSync(LineResultBody)(JSON.parse(redact(text)))).not.toThrow()
    }
  )

  it("names the line of the batch that is retried", () => {
    const retried = { line: 1, externalAccountNumber: null, sourceLine: 4_711 }
    expect(JSON.parse(resultEncoderOf("VALIDATE")(retried, resultOf({})))).toStrictEqual({
      line: 1,
      external_account_number: null,
      outcome: "SUCCEEDED",
      status: 200,
      source_line: 4_711
    })
  })

  it("of an account that existed has its status and number, and no error", () => {
    const result = { outcome: "ALREADY", accountNumber: number, failure: alreadyImported } as const
    expect(encoded("PROCESS", result)).toStrictEqual({
      ...line,
      outcome: "ALREADY",
      status: 400,
      kraken_account_number: number
    })
  })

  it("of a cancelled line of IMPORT that was staged has the status of stage", () => {
    const answer = { _tag: "Staged", isFirst: false } as const
    expect(encoded("IMPORT", { outcome: "CANCELLED", answer })).toStrictEqual({
      ...line,
      outcome: "CANCELLED",
      status: 200
    })
  })
})
