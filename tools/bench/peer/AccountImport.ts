/** Validate, stage and process, as the contract has them, but for dry runs. */
import { randomInt, randomUUID } from "node:crypto"
import type { Caller } from "./Auth.ts"
import { cents, twoDecimals } from "./Decimal.ts"
import { type FieldError, invalid, Refusal } from "./Refusal.ts"
import { type Account, accountIn, type Key, processIn } from "./Requests.ts"
import { accountErrors, effectOf, factsAt, supplierErrors } from "./Rules.ts"
import { complete } from "./CompleteStatement.ts"
import * as statements from "./Statements.ts"
import { auditOf, type Context, pairOf, run } from "./Storage.ts"

const code = "account_failed_validation"
/** Longer than any attempt takes, so that none is renewed. */
const leaseMillis = 60_000

const textAt = (value: unknown, field: string): string | null => {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return null
  const text = (value as Record<string, unknown>)[field]
  return typeof text === "string" && !text.includes("\0") ? text.trim() : null
}

const payloadOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null ? (body as { payload?: unknown }).payload : undefined

export const ownedBy = ({ organisation }: Caller, supplier: statements.Supplier | null): boolean =>
  supplier?.organisation === organisation

export const requireOngoing = (supplier: statements.Supplier | null): void => {
  if (supplier?.status !== "Ongoing") {
    throw new Refusal(400, "import_supplier_migration_not_ongoing")
  }
}

/** What is known of the supplier and the team that a payload names. */
export const knownTo = async ({ pool }: Context, payload: unknown): Promise<statements.Known> => {
  const named = [textAt(payload, "import_supplier"), textAt(payload, "operations_team_name")]
  const [row] = await run(pool, statements.known, named)
  return row as statements.Known
}

const refusalOf = (
  { external_account_number }: Key,
  found: statements.ImportRow | undefined
): Refusal => {
  if (found === undefined) return new Refusal(400, "import_process_does_not_exist")
  if (found.account_number !== null) {
    const kraken_account_number = found.account_number
    return new Refusal(400, "account_import_process_already_imported", {
      external_account_number,
      kraken_account_number
    })
  }
  return new Refusal(
    400,
    found.skipped ? "account_import_process_skipped" : "account_import_process_in_progress"
  )
}

/** What the account owes or is owed at its beginning. */
const openingBalance = ({ ledgers = [], transfer_balance = 0 }: Account): string => {
  if (ledgers.length === 0) return twoDecimals(cents(transfer_balance))
  let sum = 0n
  for (const ledger of ledgers) {
    const { current_statement_transactions: current = [], ledger_balance } = ledger
    if (ledger_balance !== undefined) {
      sum += cents(ledger_balance)
    } else {
      sum += cents(ledger.last_statement_balance ?? 0)
      for (const transaction of current) sum += effectOf(transaction)
    }
  }
  return twoDecimals(sum)
}

const newNumber = (): string =>
  `A-${randomInt(2 ** 32)
    .toString(16)
    .toUpperCase()
    .padStart(8, "0")}`

const isTaken = (cause: unknown): boolean =>
  (cause as { readonly constraint?: unknown } | null)?.constraint === "accounts_number_once"

const validated = async (context: Context, body: unknown) => {
  const { codeLists, supplier } = await knownTo(context, payloadOf(body))
  const own = ownedBy(context.caller, supplier) ? supplier : null
  const account = accountIn(body)
  const errors = accountErrors(account, factsAt(context.at, own, codeLists))
  if (errors.length > 0) throw invalid(code, errors)
  return { account, supplier }
}

export const validate = async (context: Context, body: unknown): Promise<Account> =>
  (await validated(context, body)).account

/** Refuses unless the import is free by now, and the statement can be run again. */
const refuseUnlessFree = async ({ at, pool }: Context, key: Key): Promise<void> => {
  const [found] = await run(pool, statements.find, pairOf(key))
  const expires = found?.lease_expires_at ?? null
  const isFree =
    found !== undefined &&
    found.account_number === null &&
    !found.skipped &&
    (expires === null || expires <= at)
  if (!isFree) throw refusalOf(key, found)
}

export const stage = async (context: Context, body: unknown) => {
  const { account, supplier } = await validated(context, body)
  requireOngoing(supplier)
  const { external_account_number, import_supplier } = account
  const key = { import_supplier, external_account_number }
  const values = [...pairOf(key), JSON.stringify(account), ...auditOf(context)]
  for (;;) {
    const [row] = await run(context.pool, statements.stage, values)
    if (row !== undefined) return { first: row.stagings === 1, key }
    await refuseUnlessFree(context, key)
  }
}

interface Attempt {
  readonly id: string
  readonly key: Key
  readonly payload: string
  readonly team: string
}

const claimed = async (context: Context, body: unknown): Promise<Attempt> => {
  const { at, caller, pool } = context
  const known = await knownTo(context, payloadOf(body))
  const { external_account_number, import_supplier, operations_team_name: team } = processIn(body)
  const key = { import_supplier, external_account_number }
  const errors = supplierErrors(ownedBy(caller, known.supplier))
  if (errors.length > 0) throw invalid(code, errors)
  requireOngoing(known.supplier)
  if (!known.teamExists) {
    await refuseUnlessFree(context, key)
    const unknown = "operations_team_name_does_not_exist"
    const attr = "operations_team_name"
    throw invalid(unknown, [{ detail: "There is no such team.", code: unknown, attr }])
  }
  const id = randomUUID()
  const until = new Date(at.getTime() + leaseMillis)
  for (;;) {
    const [row] = await run(pool, statements.claim, [...pairOf(key), id, at, until])
    if (row !== undefined) return { id, key, payload: row.payload, team }
    await refuseUnlessFree(context, key)
  }
}

const created = async (context: Context, attempt: Attempt): Promise<string> => {
  const { id, key, team } = attempt
  const { account } = await validated(context, { payload: JSON.parse(attempt.payload) as unknown })
  const payload = JSON.stringify(account)
  for (;;) {
    const number = newNumber()
    const values = [...pairOf(key), id, number, team, payload, openingBalance(account)]
    try {
      const rows = await run(context.pool, complete, [...values, ...auditOf(context)])
      if (rows.length === 0) throw new Refusal(503, "service_unavailable")
      return number
    } catch (cause) {
      if (!isTaken(cause)) throw cause
    }
  }
}

const released = async (context: Context, { id, key }: Attempt, cause: unknown): Promise<void> => {
  const outcome = cause instanceof Refusal ? cause.code : "error"
  const { errors = [] } = (cause instanceof Refusal ? cause.body : {}) as {
    readonly errors?: ReadonlyArray<FieldError>
  }
  const codes = [...new Set([outcome, ...errors.map((error) => error.code)])]
  const kept = JSON.stringify(errors.map(({ attr, code }) => ({ code, attr })))
  const values = [...pairOf(key), id, outcome, codes, kept, ...auditOf(context)]
  await run(context.pool, statements.release, values)
}

/** The number of the new account. */
export const process = async (context: Context, body: unknown): Promise<string> => {
  const attempt = await claimed(context, body)
  const later = { ...context, at: new Date() }
  try {
    return await created(later, attempt)
  } catch (cause) {
    await released(later, attempt, cause)
    throw cause
  }
}
