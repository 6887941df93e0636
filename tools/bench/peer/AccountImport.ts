/** Validates, stages and processes an account, and tells the status of its import. */
import { randomInt, randomUUID } from "node:crypto"
import { complete } from "./AccountStatements.ts"
import { type Context, trailOf } from "./Context.ts"
import { twoDecimals } from "./Decimal.ts"
import { missing } from "./Documents.ts"
import { type FieldError, invalid, notFound, Refusal } from "./Refusal.ts"
import { type Account, accountIn, type Key, processIn } from "./Requests.ts"
import { accountErrors, factsAt, openingCents, supplierErrors } from "./Rules.ts"
import { ownSupplier, requireOngoing } from "./Setup.ts"
import * as statements from "./Statements.ts"
import { run } from "./Storage.ts"

const code = "account_failed_validation"
/** Longer than any attempt takes, so that none is renewed. */
const leaseMillis = 60_000

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

const newNumber = (): string =>
  `A-${randomInt(2 ** 32)
    .toString(16)
    .toUpperCase()
    .padStart(8, "0")}`

const isTaken = (cause: unknown): boolean =>
  (cause as { readonly constraint?: unknown } | null)?.constraint === "accounts_number_once"

const keyOf = ({ external_account_number, import_supplier }: Key): Key => ({
  import_supplier,
  external_account_number
})

const validated = async (context: Context, body: unknown) => {
  const account = accountIn(body)
  const supplier = await ownSupplier(context, account.import_supplier)
  const facts = factsAt(context.at, supplier, await context.setup.codeLists(""))
  const errors = [
    ...accountErrors(account, facts),
    ...(await missing(context.documents, supplier, account))
  ]
  if (errors.length > 0) throw invalid(code, errors)
  return { account, supplier }
}

export const validate = async (context: Context, body: unknown): Promise<Account> =>
  (await validated(context, body)).account

/** Refuses unless the import is free by now, so that the statement can be run again. */
const refuseUnlessFree = async ({ at, pool }: Context, key: Key): Promise<void> => {
  const values = [key.import_supplier, key.external_account_number]
  const [found] = await run(pool, statements.find, values)
  const until = found?.leased_until ?? null
  const isFree =
    found !== undefined &&
    found.account_number === null &&
    !found.skipped &&
    (until === null || until <= at)
  if (!isFree) throw refusalOf(key, found)
}

export const stage = async (context: Context, body: unknown) => {
  const { account, supplier } = await validated(context, body)
  requireOngoing(supplier)
  const key = keyOf(account)
  const values = [...trailOf(context, key), JSON.stringify(account)]
  for (;;) {
    const [row] = await run(context.pool, statements.stage, values)
    if (row !== undefined) return { first: row.stagings === 1, key }
    await refuseUnlessFree(context, key)
  }
}

interface Attempt {
  readonly id: string
  readonly key: Key
  readonly lease: string
  readonly payload: unknown
  readonly stagings: number
  readonly team: string
}

const claimed = async (context: Context, body: unknown): Promise<Attempt> => {
  const { at, pool, setup } = context
  const sent = processIn(body)
  const key = keyOf(sent)
  const { operations_team_name: team } = sent
  const supplier = await ownSupplier(context, key.import_supplier)
  const errors = supplierErrors(supplier !== null)
  if (errors.length > 0) throw invalid(code, errors)
  requireOngoing(supplier)
  if (!(await setup.hasTeam(team))) {
    await refuseUnlessFree(context, key)
    const unknown = "operations_team_name_does_not_exist"
    const attr = "operations_team_name"
    throw invalid(unknown, [{ detail: "There is no such team.", code: unknown, attr }])
  }
  const lease = randomUUID()
  const until = new Date(at.getTime() + leaseMillis)
  const values = [key.import_supplier, key.external_account_number, at, lease, until]
  for (;;) {
    const [row] = await run(pool, statements.claim, values)
    if (row !== undefined) return { ...row, key, lease, team }
    await refuseUnlessFree(context, key)
  }
}

const created = async (context: Context, attempt: Attempt): Promise<string> => {
  const { id, key, lease, payload, stagings, team } = attempt
  const { account } = await validated(context, { payload })
  const values = [...trailOf(context, key), id, lease, stagings]
  for (;;) {
    const number = newNumber()
    try {
      const made = [...values, number, team, twoDecimals(openingCents(account))]
      const rows = await run(context.pool, complete, made)
      if (rows.length === 0) throw new Refusal(503, "service_unavailable")
      return number
    } catch (cause) {
      if (!isTaken(cause)) throw cause
    }
  }
}

const released = async (
  context: Context,
  { key, lease }: Attempt,
  cause: unknown
): Promise<void> => {
  const outcome = cause instanceof Refusal ? cause.code : "error"
  const { errors = [] } = (cause instanceof Refusal ? cause.body : {}) as {
    readonly errors?: ReadonlyArray<FieldError>
  }
  const codes = [...new Set([outcome, ...errors.map((error) => error.code)])]
  await run(context.pool, statements.release, [...trailOf(context, key), lease, outcome, codes])
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

const statusOf = ({ account_number, leased_until, skipped }: statements.ImportRow): string => {
  if (account_number !== null) return "COMPLETED"
  const isHeld = !skipped && leased_until !== null && leased_until > new Date()
  return isHeld ? "IN_PROGRESS" : "UNKNOWN"
}

export const status = async (context: Context, supplier: string, number: string) => {
  if ((await ownSupplier(context, supplier)) === null || number.includes("\0")) throw notFound()
  const [found] = await run(context.pool, statements.find, [supplier, number])
  if (found === undefined) throw notFound()
  return { status: statusOf(found), kraken_account_number: found.account_number ?? "" }
}
