/**
 * Compares a book with the accounts that the service has stored. The book is read once into an
 * index, and the stored accounts are compared with it; only lines that differ are read again and
 * compared in full.
 */
import { BigDecimal, Clock, Effect, Stream } from "effect"
import { DataImport } from "@data-import/client/effect"
import { exactText, twoDecimals, zero } from "@data-import/domain/schema/Decimal"
import { Refused } from "@data-import/terminal/Refused"
import { emptyBook } from "../book/Book.ts"
import type { BookFile } from "../book/BookFile.ts"
import {
  addedBalance,
  expectedBalances,
  type StoredAccount,
  storedFingerprint,
  toldBalances,
  wireOf
} from "./BookAccount.ts"
import { BookIndex, type IndexedLine, lineFinding } from "./BookIndex.ts"
import { type Difference, differencesOf } from "@data-import/domain/accounts/AccountDifferences"
import type { Finding, FindingKind } from "./Findings.ts"
import { type LineFile, openLines } from "./LineFile.ts"
import { storedAccounts } from "./StoredAccounts.ts"
import { compareSums, Sums } from "./Sums.ts"

/** How many findings the answer contains; a report has all of them. */
const examples = 100

export interface ReconcileProgress {
  readonly reading: (lines: number, share: number | null) => void
  readonly comparing: (compared: number, accounts: number) => void
}

export interface ReconcileOptions {
  readonly file: BookFile
  readonly supplier: string
  /** Leaves out accounts of other cohorts that are not in the book. */
  readonly cohort: string | null
  readonly report: (finding: Finding) => Effect.Effect<void, Refused>
  readonly progress: ReconcileProgress
}

/** Lists with additions after the import. */
const lists = ["transactions", "notes", "statements", "payment_instructions"] as const

/** Counts findings while they are reported. */
class Tally {
  readonly kinds: Record<FindingKind, number> = {
    MISSING: 0,
    UNEXPECTED: 0,
    CHANGED: 0,
    INVALID: 0,
    REPEATED: 0
  }
  readonly accounts = { equal: 0, different: 0, missing: 0, unexpected: 0, erased: 0 }
  readonly added = {
    accounts: 0,
    transactions: 0,
    notes: 0,
    statements: 0,
    payment_instructions: 0
  }
  readonly stored = new Sums()
  readonly examples: Array<Finding> = []
  addedBalance = zero

  findings = 0

  find(finding: Finding): void {
    this.findings++
    this.kinds[finding.kind]++
    if (this.examples.length < examples) this.examples.push(finding)
  }

  store(account: StoredAccount): void {
    this.stored.add(toldBalances(account))
    const { added } = account
    if (lists.some((list) => added[list].length > 0)) this.added.accounts++
    for (const list of lists) this.added[list] += added[list].length
    this.addedBalance = BigDecimal.sum(this.addedBalance, addedBalance(account))
  }
}

const changed = (book: string) =>
  new Refused({ why: `${book} was changed while it was compared. Compare it again.` })

/** The differences between the balances in the service's answer and those of the stored account. */
function* balanceDifferences(stored: StoredAccount): Generator<Difference> {
  const expected = expectedBalances(stored)
  if (expected === null) return
  const told = toldBalances(stored)
  yield* differencesOf({ balance: expected.balance }, { balance: told.balance })
  const [book, kept] = [expected, told].map(({ ledger_balances }) =>
    ledger_balances.map(({ balance, ledger_code }) => ({ balance, ledger_code }))
  )
  for (const difference of differencesOf({ ledgers: book }, { ledgers: kept })) {
    yield { ...difference, path: difference.path.replace("ledgers", "ledger_balances") }
  }
}

interface Work extends Omit<ReconcileOptions, "file"> {
  readonly file: LineFile
  readonly index: BookIndex
  readonly tally: Tally
}

const report = ({ report: write, tally }: Work, finding: Finding) => {
  tally.find(finding)
  return write(finding)
}

const readBook = (work: Work) => {
  const { file, index, progress } = work
  const { book } = file
  return Stream.runForEach(
    file.lines,
    Effect.fnUntraced(function* (lines) {
      for (const line of lines) {
        const finding = index.add(line)
        if (finding !== null) yield* report(work, finding)
      }
      progress.reading(index.read, book.size === null ? null : book.read() / book.size)
    })
  )
}

const readAgain = Effect.fnUntraced(function* ({ file, index }: Work, line: IndexedLine) {
  const again = index.again(yield* file.lineAt(line), line)
  return again ?? (yield* changed(file.book.name))
})

/** Compares one stored account with its line. Returns the count it belongs to; null if invalid. */
const compare = Effect.fnUntraced(function* (work: Work, stored: StoredAccount) {
  const { external_account_number: number, kraken_account_number } = stored
  const line = work.index.take(number)
  if (line === undefined) {
    const [kind, path] = ["UNEXPECTED", ""] as const
    const external_account_number = number
    yield* report(work, { kind, line: null, external_account_number, kraken_account_number, path })
    return "unexpected"
  }
  if (line.fingerprint === null) {
    yield* report(work, { ...lineFinding("INVALID", line, number), kraken_account_number })
    return null
  }
  if (line.fingerprint === storedFingerprint(stored)) return "equal"
  const { account } = yield* readAgain(work, line)
  let isEqual = true
  const differences = [
    ...differencesOf(wireOf(account), stored.account),
    ...balanceDifferences(stored)
  ]
  for (const { kind, ...difference } of differences) {
    isEqual = false
    const about = { ...lineFinding(kind, line, number), kraken_account_number }
    yield* report(work, { ...about, ...difference })
  }
  return isEqual ? "equal" : "different"
})

/** The accounts of a cohort. */
const numbersOf = Effect.fnUntraced(function* (supplier: string, cohort: string) {
  const { query } = yield* DataImport
  const numbers = new Set<string>()
  yield* Stream.runForEach(query.allImports(supplier, { cohort, fields: ["state"] }), (found) =>
    Effect.sync(() => numbers.add(found.external_account_number))
  )
  return numbers
})

const compareAll = Effect.fnUntraced(function* (work: Work) {
  const { cohort, index, progress, supplier, tally } = work
  const numbers = cohort === null ? null : yield* numbersOf(supplier, cohort)
  const isMeant = (number: string) =>
    numbers === null || numbers.has(number) || index.left.has(number)
  const accounts = index.left.size
  let compared = 0
  yield* Stream.runForEach(
    storedAccounts(supplier),
    Effect.fnUntraced(function* (stored) {
      if (!isMeant(stored.external_account_number)) return
      tally.store(stored)
      const count = yield* compare(work, stored)
      if (count !== null) tally.accounts[count]++
      progress.comparing(++compared, accounts)
    })
  )
})

/** The states of the imports whose accounts are missing; none if the key may not read them. */
const statesOfMissing = Effect.fnUntraced(function* ({ index, supplier }: Work) {
  const states = new Map<string, string>()
  if (index.left.size === 0) return states
  const { query } = yield* DataImport
  yield* query.allImports(supplier, { fields: ["state"] }).pipe(
    Stream.runForEach(({ external_account_number: number, state }) =>
      Effect.sync(() => {
        if (index.left.has(number) && state !== undefined) states.set(number, state)
      })
    ),
    Effect.catchIf(
      ({ code }) => code === "permission_denied",
      () => Effect.void
    )
  )
  return states
})

/** Reports the rest of the book. An account that the operator erased is missing on purpose. */
const reportMissing = Effect.fnUntraced(function* (work: Work) {
  const { index, tally } = work
  const states = yield* statesOfMissing(work)
  for (const [number, line] of index.left) {
    const state = states.get(number) ?? null
    if (line.fingerprint === null) {
      yield* report(work, lineFinding("INVALID", line, number))
    } else if (state === "ERASED") {
      tally.accounts.erased++
      index.sums.remove((yield* readAgain(work, line)).balances)
    } else {
      tally.accounts.missing++
      yield* report(work, { ...lineFinding("MISSING", line, number), state })
    }
  }
})

export const reconcileBook = Effect.fnUntraced(function* (options: ReconcileOptions) {
  const startedAt = yield* Clock.currentTimeMillis
  const file = yield* openLines(options.file)
  const index = new BookIndex(options.supplier)
  const tally = new Tally()
  const work: Work = { ...options, file, index, tally }
  yield* readBook(work)
  if (index.read === 0) return yield* emptyBook(options.file.name)
  yield* compareAll(work)
  yield* reportMissing(work)
  const { accounts, added, examples: first, findings, kinds } = tally
  return {
    supplier: options.supplier,
    lines: index.read,
    accounts,
    /** Lines that are no account of their own. */
    others: { invalid: kinds.INVALID, repeated: kinds.REPEATED + index.repetitions },
    invalidBalance: exactText(index.invalidBalance),
    withoutBalance: index.withoutBalance,
    findings,
    kinds,
    examples: first,
    added: { ...added, balance: twoDecimals(tally.addedBalance) },
    sums: compareSums(index.sums, tally.stored),
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt
  }
}, Effect.scoped)

export type ReconcileResult = Effect.Success<ReturnType<typeof reconcileBook>>
