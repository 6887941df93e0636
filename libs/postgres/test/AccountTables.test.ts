/** The rows of a created account that no port reads yet. */
import type { FoundDocuments, StoredDocument } from "@data-import/domain/account/StoredDocument"
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Layer, Schema } from "effect"
import type { Account } from "@data-import/domain/account/Account"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { minimalAccount, noonPlus } from "@data-import/domain/testing/freshNames"
import { arrange } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database, rowsOf } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as configuration } from "../src/setup/Configuration.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(importProcesses, auditLog, TestDatabase.layerTeam).pipe(
  Layer.provideMerge(configuration),
  Layer.provideMerge(TestDatabase.layer)
)

/** Creates the account that `make` returns for a claimed import, and returns its number and id. */
const created = Effect.fnUntraced(function* (
  make: (key: ImportKey) => Account,
  documents: FoundDocuments = new Map()
) {
  const imports = yield* ImportProcesses
  const { run, sql } = yield* Database
  const { account, attempt, caller, key } = yield* arrange("in progress")
  const newAccount = { ...account, account: make(key), documents }
  expect((yield* imports.complete({ key, attempt, newAccount, caller }))._tag).toBe("Completed")
  const [row] = yield* run(
    rowsOf(Schema.Struct({ id: Schema.BigInt }))(
      sql`select id from accounts where number = ${account.number}`
    )
  )
  return { id: row?.id ?? 0n, number: account.number }
})

/** The rows of a table that belong to the account, in their order, as JSON. */
const rows = Effect.fnUntraced(function* (table: string, id: bigint) {
  const { run, sql } = yield* Database
  const found = yield* run(
    rowsOf(Schema.Struct({ row: Schema.Unknown }))(sql`
      select to_jsonb(held) - 'account_id' as row from ${sql(table)} held
      where account_id = ${id} order by ctid`)
  )
  return found.map(({ row }) => row)
})

const isoNoonPlus20 = DateTime.formatIso(noonPlus(20)).replace(".000Z", "+00:00")

layer(storage, { excludeTestServices: true })("a created account", (it) => {
  it.effect("has its own fields and the balance of its ledgers", () =>
    Effect.gen(function* () {
      const { id, number } = yield* created(domesticAccount)
      const { run, sql } = yield* Database
      const account = yield* run(
        rowsOf(Schema.Struct({ row: Schema.Unknown }))(
          sql`select to_jsonb(held) - 'id' as row from accounts held where id = ${id}`
        )
      )
      expect(account[0]?.row).toStrictEqual({
        number,
        created_at: isoNoonPlus20,
        operations_team: "Migration Team",
        balance: 50,
        unknown_occupier: false,
        account_type: "DOMESTIC",
        billing_email: "regning.holm@example.com",
        billing_name: "Astrid Vestergaard-Holm",
        billing_sub_name: "c/o Jeppe Holm",
        billing_customer_reference: "Household electricity",
        date_of_sale: "2019-06-14",
        sales_channel: "ACQUISITION",
        sales_subchannel: "Wave 3",
        communication_preference: "ONLINE",
        document_accessibility: "LARGE_PRINT",
        erased_at: null,
        transfer_balance: 50,
        operations_team_name: "Migration Team",
        revision: 0,
        omitted: null,
        payload_notes: 2
      })
    })
  )

  it.effect("has its customers, addresses and options", () =>
    Effect.gen(function* () {
      const { id } = yield* created(domesticAccount)
      const jeppe = {
        position: 1,
        given_name: "Jeppe",
        family_name: "Holm",
        email: "jeppe.holm@example.com",
        mobile: "+4528840916",
        landline: null,
        date_of_birth: "1979-11-05",
        title: "Mr",
        salutation: null,
        opted_into_sms: false,
        opted_into_recommended: true,
        opted_into_updates: false,
        opted_into_third_parties: false,
        opted_into_offers: false,
        is_user_psr_consent_obtained: false,
        omitted: ["customer_preferences"]
      }
      const customers = yield* rows("customers", id)
      expect(customers).toHaveLength(2)
      expect(customers[0]).toMatchObject({ given_name: "Astrid", opted_into_sms: true })
      expect(customers[1], "what is not sent has the default of the rules").toStrictEqual(jeppe)
      expect(yield* rows("billing_addresses", id)).toStrictEqual([
        {
          name: "Astrid Vestergaard-Holm",
          organization: "",
          street_address: "Pilevangen 14, 2. th",
          locality: "Aarhus C",
          postal_code: "8000",
          country: "DK",
          delivery_point_identifier: "DK80000142",
          structured_street_address: null,
          omitted: null
        }
      ])
      expect(yield* rows("billing_options", id)).toStrictEqual([
        {
          period_length: "MONTHLY",
          period_start_day: 20,
          period_start_month: null,
          use_industry_billing: false,
          omitted: null
        }
      ])
      expect(yield* rows("supply_addresses", id)).toStrictEqual([
        {
          position: 0,
          supply_address1: "Pilevangen 14, 2. th",
          supply_postcode: "8000",
          customer_at_supply_address_from_date: "2019-07-01",
          primary_place_of_residence_since: "2019-07-01"
        }
      ])
      expect(yield* rows("account_metadata", id)).toStrictEqual([
        { position: 0, key: "legacy.segment", value: { code: "R2", since: "2021-01-01" } },
        { position: 1, key: "legacy.wave", value: { number: 3 } }
      ])
    })
  )

  it.effect("has its ledgers with every transaction and its effect on the balance", () =>
    Effect.gen(function* () {
      const { id } = yield* created(domesticAccount)
      expect(yield* rows("ledgers", id)).toStrictEqual([
        {
          position: 0,
          ledger_code: "ELECTRICITY_LEDGER",
          last_statement_balance: 25,
          last_statement_closing_date: "2025-02-28",
          ledger_balance: 50,
          omitted: null
        }
      ])
      const transactions = yield* rows("transactions", id)
      const short = { ledger_position: 0, occurrence: 1, recorded_at: isoNoonPlus20 }
      expect(transactions).toMatchObject(
        [
          ["NL-T-1001", "historical_statement", 412.5, -412.5],
          ["NL-T-1002", "historical_statement", 400, 400],
          ["NL-T-1003", "historical_statement", 37.5, 37.5],
          ["NL-T-1004", "current_statement", 400, 400],
          ["NL-T-1005", "current_statement", 337.5, -337.5],
          ["NL-T-1006", "current_statement", 12.5, -12.5],
          ["NL-T-1007", "current_statement", 25, -25]
        ].map(([transaction_id, origin, amount, effect_on_balance], sequence) => ({
          ...short,
          ...{ sequence, transaction_id, origin, amount, effect_on_balance }
        }))
      )
      expect(transactions[3]).toStrictEqual({
        ...short,
        sequence: 3,
        origin: "current_statement",
        transaction_id: "NL-T-1004",
        transaction_date: "2025-03-05",
        moved_from_date: null,
        amount: 400,
        type: "PAYMENT",
        effect_on_balance: 400,
        reason: "ACCOUNT_CHARGE_PAYMENT",
        display_note: null,
        note: "Monthly collection.",
        reference: "DD-2025-03-0004711",
        payment_type: "DD_REGULAR_COLLECTION",
        product_code: null,
        line_item_count: null,
        tax_item_count: null
      })
    })
  )

  it.effect("has the items of its supply charges", () =>
    Effect.gen(function* () {
      const { id } = yield* created(domesticAccount)
      expect(yield* rows("transaction_line_items", id)).toStrictEqual([
        {
          transaction_sequence: 4,
          position: 0,
          start_date: "2025-03-01",
          end_date: "2025-03-31",
          rate_band: "CONSUMPTION_STANDARD",
          number_of_units: 216,
          price_per_unit: 1.25,
          net_amount: 270,
          reading_at_start: 10452,
          reading_at_end: 10668
        }
      ])
      expect(yield* rows("transaction_tax_items", id)).toStrictEqual([
        {
          transaction_sequence: 4,
          position: 0,
          amount: 67.5,
          tax_type: "VAT",
          value_taxed: 270,
          rate: 0.25,
          unit_type: "PROPORTION"
        }
      ])
    })
  )

  it.effect("has its notes with their documents, and its statements", () =>
    Effect.gen(function* () {
      const undated = { body: "No time of creation is known." }
      const stored = { size: 2 ** 40, etag: "an etag", checksum: null }
      const { id } = yield* created(
        (key) => {
          const account = domesticAccount(key)
          return { ...account, notes: [...(account.notes ?? []), undated] }
        },
        new Map<string, StoredDocument>([
          ["notes/NL-0004711/request-2024-11-02.pdf", stored],
          ["statements/NL-0004711/2025-01.pdf", { ...stored, checksum: "a checksum" }]
        ])
      )
      expect(yield* rows("notes", id)).toMatchObject([
        { sequence: 0, created_at: "2024-11-02T09:15:00+00:00", is_pinned: false },
        { sequence: 1, is_pinned: true, unpin_at: "2027-03-01T08:00:00+00:00" },
        { sequence: 2, ...undated, created_at: isoNoonPlus20, is_pinned: false, unpin_at: null }
      ])
      expect(yield* rows("note_documents", id)).toMatchObject([
        {
          note_sequence: 0,
          position: 0,
          document_path: "notes/NL-0004711/request-2024-11-02.pdf",
          document_size: 2 ** 40,
          document_etag: "an etag",
          document_checksum: null
        }
      ])
      expect(yield* rows("statements", id)).toMatchObject([
        {
          statement_id: "NL-S-2025-01",
          bill_period_from_date: "2025-01-01",
          bill_period_to_date: "2025-01-31",
          statement_path: "statements/NL-0004711/2025-01.pdf",
          gross_amount: null,
          origin: "account_payload",
          document_checksum: "a checksum"
        },
        { statement_id: "NL-S-2025-02", document_size: null }
      ])
    })
  )

  it.effect("keeps every digit of decimals, and metadata unchanged", () =>
    Effect.gen(function* () {
      const value = JSON.parse(`{"__proto__":{"a":1},"~effect/BigDecimal":"x","b":null,"c":[[]]}`)
      const key = "\u{1F600}".repeat(1024)
      const { id } = yield* created((pair) => ({
        ...minimalAccount(pair),
        transfer_balance: BigDecimal.fromStringUnsafe("-9999999999.99"),
        metadata: [
          { key, value },
          { key: `${key.slice(2)}x`, value: {} }
        ]
      }))
      const { run, sql } = yield* Database
      const exact = yield* run(
        rowsOf(Schema.Struct({ balance: Schema.String, transfer: Schema.String }))(
          sql`select balance, transfer_balance as transfer from accounts where id = ${id}`
        )
      )
      expect(exact).toStrictEqual([{ balance: "-9999999999.99", transfer: "-9999999999.99" }])
      expect(yield* rows("account_metadata", id)).toStrictEqual([
        { position: 0, key, value },
        { position: 1, key: `${key.slice(2)}x`, value: {} }
      ])
    })
  )

  it.effect("has as many transactions as a list may contain", () =>
    Effect.gen(function* () {
      const { id } = yield* created((key) => {
        const account = domesticAccount(key)
        const [ledger] = account.ledgers ?? []
        const [payment] = ledger?.current_statement_transactions ?? []
        if (ledger === undefined || payment === undefined) throw new Error("The sample has none")
        const many = Array.from({ length: 10_000 }, (_, index) => ({
          ...payment,
          transaction_id: `${payment.transaction_id}-${index}` as typeof payment.transaction_id
        }))
        const { ledger_balance: _balance, ...rest } = ledger
        return { ...account, ledgers: [{ ...rest, current_statement_transactions: many }] }
      })
      const { run, sql } = yield* Database
      const [sum] = yield* run(
        rowsOf(Schema.Struct({ of_account: Schema.String, of_transactions: Schema.String }))(sql`
          select (select balance from accounts where id = ${id}) as of_account,
            sum(effect_on_balance) as of_transactions from transactions where account_id = ${id}`)
      )
      expect(sum).toStrictEqual({ of_account: "4000025", of_transactions: "4000025.0" })
    })
  )
})

layer(storage, { excludeTestServices: true })("a dry run of an account", (it) => {
  it.effect("leaves no row in any table", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { run, sql } = yield* Database
      const { account, attempt, caller, key } = yield* arrange("in progress")
      const tables = yield* run(
        rowsOf(Schema.Struct({ name: Schema.String }))(
          sql`select tablename as name from pg_tables where schemaname = 'public'`
        )
      )
      const contents = Effect.forEach(tables, ({ name }) =>
        run(sql`select ${name} as name, md5(string_agg(held::text, '' order by held::text)) as rows
          from ${sql(name)} held`)
      )
      const before = yield* contents
      const newAccount = { ...account, account: domesticAccount(key) }
      const dryRun = yield* imports.dryRun({ key, attempt, newAccount, caller })
      expect(dryRun._tag).toBe("Completed")
      expect(yield* contents).toStrictEqual(before)
    })
  )
})
