/** Books to send, and what the service made of them. */
import { Effect, Stream } from "effect"
import { readFileSync } from "node:fs"
import { type clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"

type Tenant = Effect.Success<ReturnType<typeof clientTenant>>

const numberOf = (line: number): string => `B-${String(line).padStart(4, "0")}`

/** Accounts, every tenth with a decimal too many, each line this long at least. */
export const bookOf = (lines: number, lineBytes = 0): string =>
  Array.from({ length: lines }, (_, index) => {
    const account = {
      external_account_number: numberOf(index + 1),
      unknown_occupier: true,
      transfer_balance: index % 10 === 9 ? "1.234" : "1.230"
    }
    return `${JSON.stringify(account).padEnd(lineBytes)}\n`
  }).join("")

/** The arguments that import a book. */
export const importing = ({ supplier }: Tenant, book: string): ReadonlyArray<string> => [
  "send",
  book,
  "--supplier",
  supplier,
  "--import",
  "--team",
  team
]

/** The batches of a tenant, and the numbers of its accounts. */
export const storedOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const { accounts, batches } = yield* effectClient(tenant)
  const stored = yield* Stream.runCollect(accounts.all(tenant.supplier))
  return {
    batches: yield* batches.listBatches({ query: { import_supplier: tenant.supplier } }),
    accounts: stored.map((account) => account.external_account_number)
  }
}, Effect.scoped)

/** The numbers of the accounts that such a book makes. */
export const importedOf = (lines: number): ReadonlyArray<string> =>
  Array.from({ length: lines }, (_, index) => index + 1)
    .filter((line) => line % 10 !== 0)
    .map(numberOf)

interface Failed {
  readonly line: number
  readonly outcome: string
  readonly error?: { readonly code: string }
  readonly sent?: { readonly external_account_number: string }
  readonly sent_text?: string
  readonly row?: number
}

export const failedIn = (file: string): ReadonlyArray<Failed> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Failed)
