/** Where imports stand: one, or a list of them, which is read page by page and streamed. */
import { Readable } from "node:stream"
import { ownedBy } from "./AccountImport.ts"
import type { Caller } from "./Auth.ts"
import { notFound } from "./Refusal.ts"
import type { Import, Storage } from "./Storage.ts"

type Kind = Parameters<Storage["page"]>[0]

const pageSize = 1_000

const statusOf = ({ account_number, lease_expires_at, skipped }: Import): string => {
  if (account_number !== null) return "COMPLETED"
  const isHeld = !skipped && lease_expires_at !== null && lease_expires_at > new Date()
  return isHeld ? "IN_PROGRESS" : "UNKNOWN"
}

export class ImportQuery {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async status(
    caller: Caller,
    supplier: string,
    number: string
  ): Promise<{ readonly status: string; readonly kraken_account_number: string }> {
    await this.#requireOwn(caller, supplier)
    if (number.includes("\0")) throw notFound()
    const key = { import_supplier: supplier, external_account_number: number }
    const found = await this.#storage.find(key)
    if (found === undefined) throw notFound()
    return { status: statusOf(found), kraken_account_number: found.account_number ?? "" }
  }

  async list(caller: Caller, supplier: string, kind: Kind): Promise<Readable> {
    await this.#requireOwn(caller, supplier)
    return Readable.from(this.#lines(supplier, kind), { objectMode: false })
  }

  async #requireOwn(caller: Caller, supplier: string): Promise<void> {
    if (supplier.includes("\0")) throw notFound()
    const known = await this.#storage.known(supplier, null)
    if (!ownedBy(caller, known.supplier)) throw notFound()
  }

  async *#lines(supplier: string, kind: Kind): AsyncGenerator<string> {
    let after = ""
    let text = "["
    for (;;) {
      const page = await this.#storage.page(kind, supplier, after, pageSize)
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
}
