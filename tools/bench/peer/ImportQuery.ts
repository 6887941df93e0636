/** The states of imports: of one, or of a list, which is read page by page and streamed. */
import { Readable } from "node:stream"
import type { Context } from "./Context.ts"
import { notFound } from "./Refusal.ts"
import { ownSupplier, requireOwn } from "./Setup.ts"
import * as statements from "./Statements.ts"
import { run } from "./Storage.ts"

const pageSize = 4_000

const statusOf = ({ account_number, leased_until, skipped }: statements.ImportRow): string => {
  if (account_number !== null) return "COMPLETED"
  const isHeld = !skipped && leased_until !== null && leased_until > new Date()
  return isHeld ? "IN_PROGRESS" : "UNKNOWN"
}

export const status = async (context: Context, supplier: string, number: string) => {
  requireOwn(await ownSupplier(context, supplier))
  if (number.includes("\0")) throw notFound()
  const [found] = await run(context.pool, statements.find, [supplier, number])
  if (found === undefined) throw notFound()
  return { status: statusOf(found), kraken_account_number: found.account_number ?? "" }
}

async function* entries({ pool }: Context, supplier: string): AsyncGenerator<string> {
  let after = ""
  let separator = "["
  for (;;) {
    const [page] = await run(pool, statements.page, [supplier, after, pageSize])
    if (page?.text !== null && page !== undefined) {
      yield separator + page.text
      separator = ","
      after = page.last ?? after
    }
    if (page === undefined || page.count < pageSize) break
  }
  yield separator === "[" ? "[]" : "]"
}

export const list = async (context: Context, supplier: string): Promise<Readable> => {
  requireOwn(await ownSupplier(context, supplier))
  return Readable.from(entries(context, supplier), { objectMode: false })
}
