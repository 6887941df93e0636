/**
 * The differences between an account of a book and the stored one. Elements of lists are matched by
 * their ids if they have one, else by their order.
 * Source: docs/contract/account.md, docs/contract/queries.md#get-an-account.
 */
import { isObject } from "../schema/Json.ts"

/** MISSING is in the book only, UNEXPECTED is stored only. */
export type DifferenceKind = "MISSING" | "UNEXPECTED" | "CHANGED"

/** The ids of the elements that contain a path, outermost first. */
export type Ids = Readonly<Record<string, string>>

export interface Difference {
  readonly kind: DifferenceKind
  /**
   * As an `attr`, with the indexes of the book; for an unexpected element, with its stored index.
   */
  readonly path: string
  readonly ids: Ids
  /** Undefined on the side that has nothing. */
  readonly book?: unknown
  readonly stored?: unknown
}

type Path = ReadonlyArray<string | number>

interface Place {
  readonly path: Path
  readonly ids: Ids
}

const idNames: ReadonlyArray<readonly [list: RegExp, id: string]> = [
  [/^ledgers$/, "ledger_code"],
  [/^ledgers\.\d+\.(current|historical)_statement_transactions$/, "transaction_id"],
  [/^statements$/, "statement_id"],
  [/^metadata$/, "key"]
]

export const idColumns = idNames.map(([, id]) => id)

const attrOf = (path: Path): string => path.join(".")

const within = ({ ids, path }: Place, name: string | number, more: Ids = {}): Place => ({
  path: [...path, name],
  ids: { ...ids, ...more }
})

const isSame = (book: unknown, stored: unknown): boolean =>
  JSON.stringify(book) === JSON.stringify(stored)

const found = (kind: DifferenceKind, { ids, path }: Place, sides: object): Difference => ({
  kind,
  path: attrOf(path),
  ids,
  ...sides
})

type List = ReadonlyArray<unknown>

interface Element {
  readonly at: number
  readonly value: unknown
}

type Pair = readonly [book: Element | undefined, stored: Element | undefined]

/** Elements with the same id are matched in order, so that a duplicate is found. */
const byId = (list: List, id: string): ReadonlyMap<string, Element> => {
  const times = new Map<unknown, number>()
  return new Map(
    list.map((value, at) => {
      const key = isObject(value) ? value[id] : undefined
      const time = (times.get(key) ?? 0) + 1
      times.set(key, time)
      return [JSON.stringify([key, time]), { at, value }]
    })
  )
}

const pairsById = (book: List, stored: List, id: string): ReadonlyArray<Pair> => {
  const [sent, kept] = [byId(book, id), byId(stored, id)]
  const unexpected = [...kept].filter(([key]) => !sent.has(key))
  return [
    ...[...sent].map(([key, element]): Pair => [element, kept.get(key)]),
    ...unexpected.map(([, element]): Pair => [undefined, element])
  ]
}

/**
 * Equal elements at both ends are left out, so that a missing element does not shift the others.
 */
const pairsInOrder = (book: List, stored: List): ReadonlyArray<Pair> => {
  const shorter = Math.min(book.length, stored.length)
  let head = 0
  while (head < shorter && isSame(book[head], stored[head])) head++
  let tail = 0
  while (tail < shorter - head && isSame(book.at(-1 - tail), stored.at(-1 - tail))) tail++
  const length = Math.max(book.length, stored.length) - tail - head
  const elementOf = (list: List, at: number): Element | undefined =>
    at < list.length - tail ? { at, value: list[at] } : undefined
  return Array.from({ length }, (_, index) => [
    elementOf(book, head + index),
    elementOf(stored, head + index)
  ])
}

function* listDifferences(book: List, stored: List, place: Place): Generator<Difference> {
  const attr = attrOf(place.path)
  const id = idNames.find(([list]) => list.test(attr))?.[1]
  const pairs = id === undefined ? pairsInOrder(book, stored) : pairsById(book, stored, id)
  for (const [sent, kept] of pairs) {
    const element = sent ?? kept
    if (element === undefined) continue
    const named = id !== undefined && isObject(element.value) ? element.value[id] : undefined
    const ids = id !== undefined && typeof named === "string" ? { [id]: named } : {}
    const at = within(place, element.at, ids)
    if (sent === undefined) yield found("UNEXPECTED", at, { stored: element.value })
    else if (kept === undefined) yield found("MISSING", at, { book: element.value })
    else yield* differencesAt(sent.value, kept.value, at)
  }
}

function* differencesAt(book: unknown, stored: unknown, place: Place): Generator<Difference> {
  if (isObject(book) && isObject(stored)) {
    for (const name of new Set([...Object.keys(book), ...Object.keys(stored)])) {
      const at = within(place, name)
      if (!(name in stored)) yield found("MISSING", at, { book: book[name] })
      else if (!(name in book)) yield found("UNEXPECTED", at, { stored: stored[name] })
      else yield* differencesAt(book[name], stored[name], at)
    }
  } else if (Array.isArray(book) && Array.isArray(stored)) {
    yield* listDifferences(book, stored, place)
  } else if (!isSame(book, stored)) {
    yield found("CHANGED", place, { book, stored })
  }
}

/** The differences between two accounts, each as validate answers it, in the order of the book. */
export const differencesOf = (book: unknown, stored: unknown): Generator<Difference> =>
  differencesAt(book, stored, { path: [], ids: {} })
