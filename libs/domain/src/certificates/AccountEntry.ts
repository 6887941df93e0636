/**
 * The entry of an account in the tree of a certificate: what was imported, what it holds as
 * imported, and what was added later. A supplier computes it from what it sent, the service from
 * what it stored. Entries name no person. They are canonical JSON (RFC 8785).
 */
import type { BigDecimal } from "effect"
import { type Account, accountTextInSteps, openingBalance } from "../accounts/Account.ts"
import type { AccountNote, AddedTransaction } from "../accounts/AccountChange.ts"
import { balanceOf } from "../accounts/Ledger.ts"
import { Note } from "../accounts/Note.ts"
import { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import { HistoricalStatement } from "../accounts/Statement.ts"
import { AccountTransaction } from "../accounts/Transaction.ts"
import { isNoteOnMoves, unmoved } from "../additions/TransactionImport.ts"
import { treeHash } from "../merkle/InclusionProof.ts"
import { leafHashOfText } from "../merkle/MerkleTree.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { canonicalTextOf } from "../schema/CanonicalJson.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { compareCodePoints } from "../support/CodePoints.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import type { Steps } from "../support/Steps.ts"

/** What was added to an account after its import. */
export interface AddedItems {
  readonly transactions: ReadonlyArray<AddedTransaction>
  /** With those that the service made itself, or without them. */
  readonly notes: ReadonlyArray<AccountNote>
  readonly statements: ReadonlyArray<HistoricalStatement>
  /** Ended ones included. */
  readonly instructions: ReadonlyArray<PaymentInstruction>
}

export const nothingAdded: AddedItems = {
  transactions: [],
  notes: [],
  statements: [],
  instructions: []
}

const instructionText = canonicalTextOf(PaymentInstruction)
const noteText = canonicalTextOf(Note)
const statementText = canonicalTextOf(HistoricalStatement)
const transactionText = canonicalTextOf(AccountTransaction)

/** Storage does not tell these from a member that was left out. */
const isDefault = ([name, value]: readonly [string, unknown]): boolean =>
  (name === "is_pinned" && value === false) ||
  (name === "display_note" && value === "") ||
  (Array.isArray(value) && value.length === 0)

const withoutDefaults = <A extends object>(item: A): A =>
  Object.fromEntries(Object.entries(item).filter((member) => !isDefault(member))) as A

function* textsOf<A extends object>(
  kind: string,
  items: ReadonlyArray<A>,
  textOf: (item: A) => Steps<string>
): Steps<ReadonlyArray<string>> {
  const texts: Array<string> = []
  for (const item of items) {
    texts.push(yield* textOf(withoutDefaults(item)))
    yield
  }
  return texts.sort(compareCodePoints).map((text) => `{"item":${text},"kind":"${kind}"}`)
}

/** The members of a stored instruction that the supplier has sent. */
const sentInstruction = ({ reference, type, vendor }: PaymentInstruction): PaymentInstruction => ({
  vendor,
  reference,
  type
})

/** The texts of the items in the order of their kinds, then of their texts. */
function* itemTexts(added: AddedItems): Steps<ReadonlyArray<string>> {
  const notes = added.notes.filter((note) => !isNoteOnMoves(note))
  return [
    ...(yield* textsOf("note", notes, noteText)),
    ...(yield* textsOf(
      "payment_instruction",
      added.instructions.map(sentInstruction),
      instructionText
    )),
    ...(yield* textsOf("statement", added.statements, statementText)),
    ...(yield* textsOf("transaction", added.transactions.map(unmoved), transactionText))
  ]
}

/** The root of the added items in hexadecimal, whatever their order; empty if there are none. */
function* addedRoot({ digest }: Hashing["Service"], added: AddedItems): Steps<string> {
  if (added === nothingAdded) return ""
  const texts = yield* itemTexts(added)
  if (texts.length === 0) return ""
  return hexOf(
    treeHash(
      digest,
      texts.map((text) => leafHashOfText(digest, text))
    )
  )
}

const ledgerTexts = (account: Account): string =>
  (account.ledgers ?? [])
    .toSorted((one, other) => compareCodePoints(one.ledger_code, other.ledger_code))
    .map((ledger) => {
      const balance = twoDecimals(balanceOf(ledger))
      return `{"balance":"${balance}","ledger_code":${JSON.stringify(ledger.ledger_code)}}`
    })
    .join()

const membersWith = (account: Account, added: string, balance: BigDecimal.BigDecimal): string => {
  const members = [
    `"added":"${added}"`,
    `"balance":"${twoDecimals(balance)}"`,
    `"external_account_number":${JSON.stringify(account.external_account_number)}`,
    `"ledgers":[${ledgerTexts(account)}]`
  ]
  return members.join()
}

/** The entry with the payload hash of its account. */
export const entryWith = (hash: string, members: string): string =>
  `{"account":"${hash}",${members}}`

/** The members of the entry, but for the payload hash, of an account to which nothing was added. */
export const importedMembers = (account: Account): string =>
  membersWith(account, "", openingBalance(account))

/**
 * The members of the entry but for the payload hash. A stored account has a `balance` of its own,
 * which is what the account adds up to unless it was altered.
 */
export function* entryMembers(
  hashing: Hashing["Service"],
  account: Account,
  added: AddedItems,
  balance: BigDecimal.BigDecimal = openingBalance(account)
): Steps<string> {
  return membersWith(account, yield* addedRoot(hashing, added), balance)
}

/**
 * The text of the entry of a valid account. The balances are those as imported. They follow from
 * the account, so that a stored account and a sent one with the same payload have the same entry.
 */
export function* entryText(
  hashing: Hashing["Service"],
  account: Account,
  added: AddedItems
): Steps<string> {
  const hash = hashing.sha256(yield* accountTextInSteps(account))
  return entryWith(hash, yield* entryMembers(hashing, account, added))
}

/** The leaf of an entry in the tree. */
export const entryHash = ({ digest }: Hashing["Service"], text: string): Uint8Array =>
  leafHashOfText(digest, text)
