/** Customers to erase, with data in every field. */
import { Effect, Option } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { noon, noonPlus } from "@data-import/domain/testing/freshNames"
import {
  accountWith,
  adding,
  card,
  changeAccount,
  creditOf,
  imported,
  mayStatement,
  noteOf
} from "@data-import/domain/testing/importedAccounts"

export const erasedAt = noonPlus(300)

export const erase = (key: ImportKey, rehearse = false) =>
  Effect.flatMap(Erasures, (port) => port.erase({ key, rehearse, at: erasedAt }))

/** Erases by a command of the operator; also returns its audit entries. */
export const eraseAsOperator = Effect.fnUntraced(function* (key: ImportKey) {
  const requestId = RequestId.make(crypto.randomUUID())
  const command = { name: "Ada", requestId }
  const erasing = yield* Effect.provideService(erase(key), CurrentOperator, command)
  return { erasing, entries: yield* (yield* AuditLog).ofRequest(requestId) }
})

export const detailsOf = (key: ImportKey) =>
  Effect.flatMap(ImportProcesses, (port) => port.details(key, 10)).pipe(
    Effect.map(Option.getOrThrow)
  )

/** An account with every kind of item, and later additions. */
const richAccount = accountWith({
  unknown_occupier: false,
  customers: [{ given_name: "zqErika", family_name: "zqMustermann", email: "zq@example.org" }],
  billing_name: "zqName",
  billing_customer_reference: "zqReference",
  billing_address: { street_address: "zqStreet", locality: "zqTown", country: "GB" },
  account_billing_options: { period_length: "MONTHLY", period_start_day: 3 },
  sales_subchannel: "zqChannel",
  date_of_sale: "2020-01-01",
  operations_team_name: "zqTeam",
  document_accessibility: "BRAILLE",
  supply_addresses: [
    {
      supply_address1: "zqPlace",
      supply_postcode: "zq1",
      customer_at_supply_address_from_date: "2020-01-01"
    }
  ],
  metadata: [{ key: "zqKey", value: { zq: "zqValue" } }],
  notes: [{ body: "zqBody", document_paths: [{ document_path: "/zq/b.pdf" }] }],
  statements: [
    {
      statement_id: "zqS-1",
      bill_period_from_date: "2025-01-01",
      bill_period_to_date: "2025-01-31",
      statement_path: "zq/a.pdf"
    }
  ],
  ledgers: [
    {
      ledger_code: "ELECTRICITY",
      ledger_balance: "-10.00",
      current_statement_transactions: [
        {
          transaction_id: "zqT-1",
          transaction_date: "2025-06-01",
          amount: "10.00",
          type: "SUPPLY_CHARGE",
          display_note: "zqDisplay",
          note: "zqNote",
          product_code: "zqProduct",
          line_items: [
            {
              rate_band: "zqBand",
              start_date: "2025-05-01",
              end_date: "2025-05-31",
              number_of_units: 10,
              net_amount: 10,
              units: [12, 22]
            }
          ]
        }
      ]
    }
  ]
})

export const rich = Effect.gen(function* () {
  const account = yield* imported(richAccount)
  yield* changeAccount(account, (view) => ({
    ...adding(creditOf("zqT-2", { reason: "zqReason", note: "zqNote" }))(view),
    notes: [
      {
        ...noteOf({ body: "zqLater", document_paths: [{ document_path: "zq/c.pdf" }] }),
        created_at: noon
      }
    ],
    statements: [mayStatement("zqS-2", { number: "zqN", statement_path: "zq/d.pdf" })],
    instruction: { ...card, instruction: { ...card.instruction, reference: "zqpm" } }
  }))
  return account
})
