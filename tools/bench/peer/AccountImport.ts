/** Validate, stage and process, as the contract has them. */
import { randomInt, randomUUID } from "node:crypto"
import type { Caller } from "./Auth.ts"
import { cents, twoDecimals } from "./Decimal.ts"
import { type FieldError, invalid, Refusal } from "./Refusal.ts"
import { type Account, accountIn, type Key, processIn } from "./Requests.ts"
import { accountErrors, effectOf, factsAt, supplierErrors } from "./Rules.ts"
import type { Import, Known, Storage, Supplier, Write } from "./Storage.ts"

const code = "account_failed_validation"
const leaseMillis = 60_000
const renewals = 3

const textAt = (value: unknown, field: string): string | null => {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return null
  const text = (value as Record<string, unknown>)[field]
  return typeof text === "string" ? text : null
}

const payloadOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null ? (body as { payload?: unknown }).payload : undefined

/** The supplier that a payload names, where that can be one. */
const supplierIn = (payload: unknown): string | null => {
  const named = textAt(payload, "import_supplier")?.trim() ?? ""
  return named === "" || named.length > 64 || named.includes("\0") ? null : named
}

export const ownedBy = ({ organisation }: Caller, supplier: Supplier | null): boolean =>
  supplier?.organisation === organisation

export const requireOngoing = (supplier: Supplier | null): void => {
  if (supplier?.status !== "Ongoing") {
    throw new Refusal(400, "import_supplier_migration_not_ongoing")
  }
}

/** What is known for a request whose body names a supplier. */
export const knownTo = async (
  storage: Storage,
  payload: unknown,
  team: string | null = null
): Promise<Known> => storage.known(supplierIn(payload), team?.includes("\0") === true ? null : team)

/** Records every refusal of `request` in the audit log. */
export const recorded = async <A>(
  storage: Storage,
  action: string,
  payload: unknown,
  write: Write,
  request: () => Promise<A>
): Promise<A> => {
  const short = (field: string, length: number) =>
    textAt(payload, field)?.toWellFormed().replaceAll("\0", "").slice(0, length) ?? null
  const key = {
    import_supplier: short("import_supplier", 32),
    external_account_number: short("external_account_number", 128)
  }
  try {
    return await request()
  } catch (cause) {
    if (cause instanceof Refusal) await storage.refuse(action, cause.code, key, write)
    throw cause
  }
}

const refusalOf = ({ external_account_number }: Key, found: Import | undefined): Refusal => {
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

interface Attempt {
  readonly id: string
  readonly key: Key
  readonly payload: string
  readonly dryRun: boolean
  readonly team: string
}

export class AccountImport {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async validate(write: Write, body: unknown): Promise<Account> {
    return (await this.#validated(write, body)).account
  }

  async stage(
    write: Write,
    body: unknown
  ): Promise<{ readonly first: boolean; readonly key: Key }> {
    return recorded(this.#storage, "stage", payloadOf(body), write, async () => {
      const { account, supplier } = await this.#validated(write, body)
      requireOngoing(supplier)
      const { external_account_number, import_supplier } = account
      const key = { import_supplier, external_account_number }
      const payload = JSON.stringify(account)
      for (;;) {
        const stagings = await this.#storage.stage(key, payload, write)
        if (stagings !== null) return { first: stagings === 1, key }
        await this.#refuseUnlessFree(key, write)
      }
    })
  }

  /** The number of the new account. */
  async process(write: Write, body: unknown): Promise<string> {
    const attempt = await recorded(this.#storage, "process", payloadOf(body), write, () =>
      this.#claimed(write, body)
    )
    const { id, key } = attempt
    const renewing = setInterval(() => {
      const until = new Date(Date.now() + leaseMillis)
      // A lease that is not renewed still lasts for a while, and the attempt goes on.
      void this.#storage.renew(key, id, until).catch(() => undefined)
    }, leaseMillis / renewals)
    try {
      return await this.#created(write, attempt)
    } catch (cause) {
      await this.#released(write, attempt, cause)
      throw cause
    } finally {
      clearInterval(renewing)
    }
  }

  async #validated(write: Write, body: unknown) {
    const known = await knownTo(this.#storage, payloadOf(body))
    const own = ownedBy(write.caller, known.supplier) ? known.supplier : null
    const account = accountIn(body)
    const errors = accountErrors(account, factsAt(write.at, own, known.codeLists))
    if (errors.length > 0) throw invalid(code, errors)
    return { account, supplier: known.supplier }
  }

  /** What was found may have changed since; then the caller tries again. */
  async #refuseUnlessFree(key: Key, { at }: Write): Promise<void> {
    const found = await this.#storage.find(key)
    const expires = found?.lease_expires_at ?? null
    const isFree =
      found !== undefined &&
      found.account_number === null &&
      !found.skipped &&
      (expires === null || expires <= at)
    if (!isFree) throw refusalOf(key, found)
  }

  async #claimed(write: Write, body: unknown): Promise<Attempt> {
    const sent = payloadOf(body)
    const team = textAt(sent, "operations_team_name")?.trim() ?? null
    const known = await knownTo(this.#storage, sent, team)
    const { dry_run: dryRun = false, operations_team_name, ...key } = processIn(body)
    const errors = supplierErrors(ownedBy(write.caller, known.supplier))
    if (errors.length > 0) throw invalid(code, errors)
    requireOngoing(known.supplier)
    if (!known.teamExists) {
      await this.#refuseUnlessFree(key, write)
      const attr = "operations_team_name"
      const unknown = "operations_team_name_does_not_exist"
      throw invalid(unknown, [{ detail: "There is no such team.", code: unknown, attr }])
    }
    const id = randomUUID()
    const until = new Date(write.at.getTime() + leaseMillis)
    for (;;) {
      const payload = await this.#storage.claim(key, id, dryRun, write.at, until)
      if (payload !== null) return { id, key, payload, dryRun, team: operations_team_name }
      await this.#refuseUnlessFree(key, write)
    }
  }

  async #created(write: Write, { dryRun, id, key, payload, team }: Attempt): Promise<string> {
    const now = { ...write, at: new Date() }
    const { account } = await this.#validated(now, { payload: JSON.parse(payload) as unknown })
    const balance = openingBalance(account)
    for (;;) {
      const number = newNumber()
      try {
        const created = { number, team, payload: JSON.stringify(account) }
        const held = await this.#storage.complete(key, id, created, balance, now, !dryRun)
        if (!held) throw new Refusal(503, "service_unavailable")
        if (dryRun) throw new Refusal(400, "dry_run_successful")
        return number
      } catch (cause) {
        if (!isTaken(cause)) throw cause
      }
    }
  }

  async #released(write: Write, { dryRun, id, key }: Attempt, cause: unknown): Promise<void> {
    const outcome = cause instanceof Refusal ? cause.code : "error"
    const { errors = [] } = (cause instanceof Refusal ? cause.body : {}) as {
      readonly errors?: ReadonlyArray<FieldError>
    }
    const dryRunEvent = outcome === "dry_run_successful" ? "dry_run_complete" : "dry_run_error"
    const event = `data_import.import_process.${dryRun ? dryRunEvent : "error"}-v1`
    const now = { ...write, at: new Date() }
    await this.#storage.release(key, id, outcome, event, errors, now)
  }
}
