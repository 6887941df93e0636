/** Reads an account back from the tables of the peer, in the form in which it was sent. */

const listOf = (table: string, element: string, order: string, where = "true") => `(
  select coalesce(jsonb_agg(${element} order by ${order}), '[]') from peer.${table}
  where account_id = a.id and ${where})`

const present = (...pairs: ReadonlyArray<string>) =>
  `jsonb_strip_nulls(jsonb_build_object(${pairs.join(", ")}))`

const transaction = `${present(
  "'transaction_id', transaction_id",
  "'transaction_date', date",
  "'amount', amount",
  "'type', type"
)} || details`

const transactionsOf = (origin: string) =>
  listOf("transactions", transaction, "transaction_id", `origin = '${origin}'`)

const inLedger = (origin: string) =>
  listOf(
    "transactions",
    transaction,
    "transaction_id",
    `origin = '${origin}' and ledger_code = ledgers.code`
  )

const ledger = present(
  "'ledger_code', code",
  "'ledger_balance', balance",
  "'last_statement_balance', last_balance",
  "'last_statement_closing_date', closed_on",
  `'current_statement_transactions', ${inLedger("current")}`,
  `'historical_statement_transactions', ${inLedger("historical")}`
)

const customer = `${present(
  "'given_name', given_name",
  "'family_name', family_name",
  "'email', email"
)} || details`

const statementsOf = (origin: string) =>
  listOf(
    "statements",
    `${present(
      "'statement_id', statement_id",
      "'bill_period_from_date', from_date",
      "'bill_period_to_date', to_date",
      "'statement_path', path"
    )} || details`,
    "statement_id",
    `origin = '${origin}'`
  )

/** Those of the payload were created before the account. */
const notesOf = (where: string) =>
  listOf(
    "notes",
    "details || jsonb_build_object('created_at', created_at)",
    "created_at",
    `created_at ${where} '2025-04-01'`
  )

/** $1 supplier, $2 number. */
export const rebuilt = `
  select jsonb_build_object(
    'account', details || jsonb_build_object(
      'customers', ${listOf("customers", customer, "position")},
      'supply_addresses', ${listOf("supply_addresses", "details", "position")},
      'metadata', ${listOf("metadata", "jsonb_build_object('key', key, 'value', value)", "key")},
      'ledgers', ${listOf("ledgers", ledger, "code")},
      'notes', ${notesOf("<")},
      'statements', ${statementsOf("payload")}),
    'balance', balance,
    'transactions', ${transactionsOf("post_import")},
    'notes', ${notesOf(">=")},
    'statements', ${statementsOf("post_import")}) as stored
  from peer.accounts a join peer.imports i using (id)
  where i.supplier = $1 and i.number = $2`
