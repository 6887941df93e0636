/** Where imports stand: one, or a list of them, which is read page by page and streamed. */
import { Readable } from "node:stream"
import { ownedBy } from "./AccountImport.ts"
import { notFound } from "./Refusal.ts"
import * as statements from "./Statements.ts"
import { type Context, pairOf, run } from "./Storage.ts"

const pageSize = 1_000

const statusOf = ({ account_number, lease_expires_at, skipped }: statements.ImportRow): string => {
  if (account_number !== null) return "COMPLETED"
  const isHeld = !skipped && lease_expires_at !== null && lease_expires_at > new Date()
  return isHeld ? "IN_PROGRESS" : "UNKNOWN"
}

const requireOwn = async ({ caller, pool }: Context, supplier: string): Promise<void> => {
  if (supplier.includes("\0")) throw notFound()
  const [known] = await run(pool, statements.known, [supplier, null])
  if (!ownedBy(caller, known?.supplier ?? null)) throw notFound()
}

export const status = async (context: Context, supplier: string, number: string) => {
  await requireOwn(context, supplier)
  if (number.includes("\0")) throw notFound()
  const key = { import_supplier: supplier, external_account_number: number }
  const [found] = await run(context.pool, statements.find, pairOf(key))
  if (found === undefined) throw notFound()
  return { status: statusOf(found), kraken_account_number: found.account_number ?? "" }
}

async function* entries({ pool }: Context, supplier: string): AsyncGenerator<string> {
  let after = ""
  let text = "["
  for (;;) {
    const page = await run(pool, statements.page, [supplier, after, pageSize])
    const last = page.at(-1)
    if (last !== undefined) {
      yield text + page.map(({ line }) => line).join(",")
      text = ","
      after = last.external_account_number
    }
    if (page.length < pageSize) break
  }
  yield text === "[" ? "[]" : "]"
}

export const list = async (context: Context, supplier: string): Promise<Readable> => {
  await requireOwn(context, supplier)
  return Readable.from(entries(context, supplier), { objectMode: false })
}
