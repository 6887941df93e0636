/**
 * Names the accounts in which a book differs from a certificate, and their fields as `reconcile`
 * does. It asks the service, which alone has the certified tree.
 */
import { Effect, Stream } from "effect"
import { DataImport } from "@data-import/client/effect"
import {
  type Account,
  accountTextInSteps,
  openingBalance
} from "@data-import/domain/accounts/Account"
import type { DifferingAccount } from "@data-import/domain/certificates/TreeComparison"
import { compareTrees } from "@data-import/domain/certificates/TreeComparison"
import { twoDecimals } from "@data-import/domain/schema/Decimal"
import { finish } from "@data-import/domain/support/Steps"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import { cannotRead } from "../book/Book.ts"
import type { BookFile } from "../book/BookFile.ts"
import { onService } from "../connection/Connection.ts"
import { type BookAccount, readLine, wireOf } from "../reconcile/BookAccount.ts"
import { differencesOf } from "@data-import/domain/accounts/AccountDifferences"
import type { Finding } from "../reconcile/Findings.ts"
import type { CertifyResult } from "./CertifyBook.ts"
import { hashing } from "./NodeHashing.ts"

/** Of so many accounts the fields are compared; the others are only named. */
const comparedInFull = 100

/** Accounts that are asked for together. */
const atOnce = 4

export interface Differing {
  readonly accounts: ReadonlyArray<DifferingAccount>
  /** Certified accounts without a number that are not in the book. */
  readonly erased: number
  /** Of the first accounts. */
  readonly findings: ReadonlyArray<Finding>
}

interface Compared {
  readonly file: BookFile
  readonly result: CertifyResult
  readonly certificate: { readonly certificate_id: string; readonly tree_size: number }
}

/** Reads lines of the book again, by their numbers. A piped book cannot be read again. */
const linesAgain = Effect.fnUntraced(function* (
  { file, result }: Compared,
  wanted: ReadonlySet<number>
) {
  const accounts = new Map<string, BookAccount>()
  if (file.name === "-" || wanted.size === 0) return accounts
  const { blocks } = yield* file.open
  yield* Stream.runForEach(
    Stream.fromAsyncIterable(blocks(), (error) => cannotRead(file.name, error)),
    ({ bytes, firstLine, lines }) =>
      Effect.sync(() => {
        const here = Array.from({ length: lines }, (_, at) => at).filter((at) =>
          wanted.has(firstLine + at)
        )
        if (here.length === 0) return
        const splitter = new LineSplitter()
        const split = [...splitter.feed(bytes), ...splitter.end()]
        for (const at of here) {
          const read = readLine(split[at] ?? null, result.supplier)
          if (read.account !== null) accounts.set(read.number, read)
        }
      })
  )
  return accounts
})

/** The account as it is stored now; null if the key may not read it, or it is not there. */
const storedAccount = Effect.fnUntraced(
  function* (supplier: string, number: string) {
    const { accounts, query } = yield* DataImport
    const params = { import_supplier: supplier, external_account_number: number }
    const { kraken_account_number } = yield* query.getImport({ params })
    if (kraken_account_number === null) return null
    return yield* accounts.getAccount({ params: { kraken_account_number } })
  },
  Effect.catchIf(
    ({ code }) => code === "not_found" || code === "permission_denied",
    () => Effect.succeed(null)
  )
)

const kinds = { both: "CHANGED", certified: "UNEXPECTED", local: "MISSING" } as const

/** The path of what was added: something was added, deleted or altered, and a hash tells no more. */
export const addedPath = "added"

/** The paths of an account that was altered where it is stored, past the service. */
export const alteredPaths = ["account", "balance"] as const

/** About the whole account. */
const findingOf = ({ result }: Compared, { number, side }: DifferingAccount): Finding => {
  const place = result.placeOf(number)
  return {
    kind: kinds[side],
    line: side === "certified" ? null : (place?.line ?? null),
    ...(place !== undefined && place.row !== null && { row: place.row }),
    external_account_number: number,
    kraken_account_number: null,
    path: ""
  }
}

/** Where an entry differs though no field of the account does. */
const pathInEntry = Effect.fnUntraced(
  function* ({ certificate: { certificate_id } }: Compared, account: Account) {
    const { certificates } = yield* DataImport
    const { external_account_number } = account
    const params = { certificate_id, external_account_number }
    const { entry } = yield* certificates.getCertificateProof({ params })
    const local = {
      account: hashing.sha256(finish(accountTextInSteps(account))),
      balance: twoDecimals(openingBalance(account))
    }
    return alteredPaths.find((path) => entry[path] !== local[path]) ?? addedPath
  },
  Effect.catchIf(
    ({ code }) => code === "not_found",
    () => Effect.succeed(addedPath)
  )
)

/** What differs in an account that both have. */
const findingsIn = Effect.fnUntraced(function* (
  compared: Compared,
  account: DifferingAccount,
  local: BookAccount | undefined
) {
  const about = findingOf(compared, account)
  if (account.side !== "both" || local === undefined) return [about]
  const stored = yield* storedAccount(compared.result.supplier, account.number)
  if (stored === null) return [about]
  const { kraken_account_number } = stored
  const fields = [...differencesOf(wireOf(local.account), stored.account)]
  if (fields.length > 0) {
    return fields.map((field): Finding => ({ ...about, kraken_account_number, ...field }))
  }
  const path = yield* pathInEntry(compared, local.account)
  return [{ ...about, kraken_account_number, path }]
})

const differing = Effect.fnUntraced(function* (compared: Compared) {
  const { certificates } = yield* DataImport
  const { certificate, result } = compared
  const params = { certificate_id: certificate.certificate_id }
  const { accounts, erased } = yield* compareTrees(
    {
      hashing,
      tree: result.tree,
      nodes: ({ from, level, limit }) =>
        certificates.listCertificateHashes({ params, query: { from, level, limit } })
    },
    certificate.tree_size
  )
  const first = accounts.slice(0, comparedInFull)
  const lines = first.flatMap(({ number, side }) =>
    side === "both" ? (result.placeOf(number)?.line ?? []) : []
  )
  const locals = yield* linesAgain(compared, new Set(lines))
  const findings = yield* Effect.forEach(
    first,
    (account) => findingsIn(compared, account, locals.get(account.number)),
    { concurrency: atOnce }
  )
  return { accounts, erased, findings: findings.flat() } satisfies Differing
})

/** The accounts that differ, or why they could not be found. */
export const differingAccounts = (compared: Compared) =>
  onService(differing(compared)).pipe(Effect.catchTag("Refused", ({ why }) => Effect.succeed(why)))
