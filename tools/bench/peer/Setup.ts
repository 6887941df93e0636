/** The operator's setup: suppliers, code lists and teams. It is cached for a second. */
import type pg from "pg"
import type { Caller } from "./Auth.ts"
import { Refusal } from "./Refusal.ts"
import * as statements from "./Statements.ts"
import type { Supplier } from "./Statements.ts"
import { run } from "./Storage.ts"

export type CodeLists = Readonly<Record<string, ReadonlyArray<string>>>

/** Caches what was found under a key, until it is too old. A failure is not cached. */
const cached = <A>(millis: number, find: (key: string) => Promise<A>) => {
  const capacity = 10_000
  const entries = new Map<string, { readonly value: A; readonly until: number }>()
  const known = (key: string) => {
    const entry = entries.get(key)
    return entry !== undefined && entry.until > Date.now() ? entry : undefined
  }
  return async (key: string): Promise<A> => {
    const entry = known(key)
    if (entry !== undefined) return entry.value
    const value = await find(key)
    if (entries.size >= capacity) entries.clear()
    entries.set(key, { value, until: Date.now() + millis })
    return value
  }
}

export const makeSetup = (pool: pg.Pool, millis: number) => ({
  supplier: cached(millis, async (code): Promise<Supplier | null> => {
    const [row] = await run(pool, statements.supplier, [code])
    return row ?? null
  }),
  codeLists: cached(millis, async (): Promise<CodeLists> => {
    const rows = await run(pool, statements.codeLists, [])
    return Object.fromEntries(rows.map(({ list, values }) => [list, values]))
  }),
  hasTeam: cached(millis, async (name) => (await run(pool, statements.team, [name])).length > 0)
})

export type Setup = ReturnType<typeof makeSetup>

/** The supplier with this code, if it belongs to the caller. */
export const ownSupplier = async (
  { caller, setup }: { readonly caller: Caller; readonly setup: Setup },
  code: unknown
): Promise<Supplier | null> => {
  if (typeof code !== "string" || code.includes("\0")) return null
  const found = await setup.supplier(code)
  return found?.organisation === caller.organisation ? found : null
}

export const requireOngoing = (supplier: Supplier | null): void => {
  if (supplier?.status !== "Ongoing") {
    throw new Refusal(400, "import_supplier_migration_not_ongoing")
  }
}
