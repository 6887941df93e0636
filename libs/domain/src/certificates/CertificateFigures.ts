/**
 * The figures of a certificate for people, in sections: on its page, in its PDF, and side by side
 * with those of another one.
 */
import type { Certificate } from "./Certificate.ts"

/** A name with a count, an exact amount or a hash, and words about it. */
export interface Figure {
  readonly name: string
  readonly count?: number
  readonly amount?: string
  /** In hexadecimal. */
  readonly hash?: string
  readonly words?: string
}

export interface FigureSection {
  readonly title: string
  readonly figures: ReadonlyArray<Figure>
}

const beside = (expected: number | string, certified: number | string): string =>
  expected === certified ? "as certified" : `certified: ${certified}`

const expectedOf = (certificate: Certificate): ReadonlyArray<Figure> => {
  const { balance: certified, control_totals: expected, tree_size } = certificate
  if (expected === null) return [{ name: "Expected", words: "No control totals were entered" }]
  const { accounts, balance, ledger_balances, matches } = expected
  const balanceOf = (code: string): string =>
    certificate.ledger_balances.find(({ ledger_code }) => ledger_code === code)?.balance ?? "0.00"
  return [
    { name: "Expected accounts", count: accounts, words: beside(accounts, tree_size) },
    ...(balance === null
      ? []
      : [{ name: "Expected balance", amount: balance, words: beside(balance, certified) }]),
    ...(ledger_balances ?? []).map(({ balance: amount, ledger_code }) => ({
      name: `Expected in the ledger ${ledger_code}`,
      amount,
      words: beside(amount, balanceOf(ledger_code))
    })),
    {
      name: "What is certified",
      words: matches ? "Is exactly what was expected" : "Is not what was expected"
    }
  ]
}

/** How often an entry was computed again says nothing of the accounts, so it is no figure. */
export const figuresOf = (certificate: Certificate): ReadonlyArray<FigureSection> => {
  const { documents, ledger_balances, statements, transactions } = certificate
  return [
    {
      title: "Accounts",
      figures: [
        { name: "Certified accounts", count: certificate.tree_size },
        { name: "Root of their tree", hash: certificate.root },
        { name: "Erased before", count: certificate.erased },
        { name: "Reverted before", count: certificate.reverted }
      ]
    },
    {
      title: "Imports by state",
      figures: Object.entries(certificate.states).map(([name, count]) => ({ name, count }))
    },
    {
      title: "Money",
      figures: [
        ...ledger_balances.map(({ balance, ledger_code, ledgers }) => ({
          name: `Ledger ${ledger_code}`,
          count: ledgers,
          amount: balance
        })),
        { name: "Balance as imported", amount: certificate.balance_as_imported },
        { name: "Added after the import", amount: certificate.balance_added },
        { name: "Balance", amount: certificate.balance }
      ]
    },
    { title: "Control totals", figures: expectedOf(certificate) },
    {
      title: "Transactions and statements",
      figures: [
        ...transactions.map(({ amount, count, reason, type }) => ({
          name: reason === null ? type : `${type} ${reason}`,
          count,
          amount
        })),
        { name: "Statements", count: statements.count, amount: statements.gross_amount }
      ]
    },
    {
      title: "Documents",
      figures: [
        { name: "Documents", count: documents.count },
        { name: "Of them without a known checksum", count: documents.without_checksum },
        { name: "Bytes of the others", count: documents.bytes },
        { name: "Root of their tree", hash: documents.root }
      ]
    }
  ]
}

/** In words of four digits, which a person can compare and read aloud. */
export const hashInWords = (hash: string): string => hash.replaceAll(/.{4}(?=.)/g, "$& ")

/** A figure of two certificates; null where one of them has no such figure. */
export interface FigurePair {
  readonly name: string
  readonly one: Figure | null
  readonly other: Figure | null
}

/** Words beside a value are about another figure, so that they alone do not make it differ. */
const wordsOf = (figure: Figure | null): string | undefined =>
  figure?.count === undefined && figure?.amount === undefined ? figure?.words : undefined

const isSame = ({ one, other }: FigurePair): boolean =>
  one?.count === other?.count &&
  one?.amount === other?.amount &&
  one?.hash === other?.hash &&
  wordsOf(one) === wordsOf(other)

/** The figures of two certificates that differ, in their sections. */
export const differingFigures = (one: Certificate, other: Certificate) => {
  const others = figuresOf(other)
  return figuresOf(one).map(({ figures, title }) => {
    const present = others.find((section) => section.title === title)?.figures ?? []
    const names = new Set([...figures, ...present].map(({ name }) => name))
    const pairs = Array.from(names, (name): FigurePair => {
      const named = (figure: Figure) => figure.name === name
      return { name, one: figures.find(named) ?? null, other: present.find(named) ?? null }
    })
    return { title, compared: pairs.length, pairs: pairs.filter((pair) => !isSame(pair)) }
  })
}
