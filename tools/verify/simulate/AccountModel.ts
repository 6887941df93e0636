/**
 * The expected content of an account, computed from the requests as they were sent. It uses no
 * function of the domain, so that errors of the domain are found. Money is in whole hundredths, and
 * text is as on the wire.
 */
import type { AccountDescription } from "@data-import/domain/account/AccountDescription"
import { encodeDescription } from "@data-import/domain/account/AccountDescription"
import { get, objectsAt, type Wire } from "@data-import/domain/testing/wire"
import type { Answer, Order } from "./Request.ts"
import { timeZones } from "./Traffic.ts"

interface ModelTransaction {
  readonly id: string
  readonly date: string
  /** Its effect on the balance, in hundredths. */
  readonly effect: bigint
}

interface ModelNote {
  readonly content: string
  readonly at: string
}

interface ModelStatement {
  readonly id: string
  /** The fields that it has, as they are compared. */
  readonly fields: Readonly<Record<string, string>>
}

export interface ModelAccount {
  readonly balance: bigint
  /** The last closing date of its ledgers. */
  readonly closing: string | null
  readonly transactions: ReadonlyArray<ModelTransaction>
  readonly notes: ReadonlyArray<ModelNote>
  readonly statements: ReadonlyArray<ModelStatement>
  readonly instruction: string | null
}

/** Hundredths of an amount on the wire. */
const cents = (amount: unknown): bigint => {
  const digits = /^(-?)(\d+)(?:\.(\d*))?$/.exec(String(amount).trim())
  if (digits === null) throw new Error(`${String(amount)} is no amount`)
  const [, sign, whole = "0", fraction = ""] = digits
  const size = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, "0").slice(0, 2))
  return sign === "-" ? -size : size
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

/** The instant in whole seconds, as written on the wire. */
const second = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z")

const without = (path: unknown): string => textOf(path).replace(/^\//, "")

const modelTransaction = (sent: Wire): ModelTransaction => {
  const raises = sent["type"] === "PAYMENT" || sent["type"] === "CREDIT"
  const amount = cents(sent["amount"])
  return {
    id: textOf(sent["transaction_id"]),
    date: textOf(sent["transaction_date"]),
    effect: raises ? amount : -amount
  }
}

/** The identity of a note. */
export const contentOf = (note: Wire): string =>
  "body" in note
    ? `body ${textOf(note["body"])}`
    : `paths ${objectsAt(note, "document_paths")
        .map((named) => without(named["document_path"]))
        .join(" ")}`

const sentAt = (note: Wire): string | null =>
  typeof note["created_at"] === "string" ? second(Date.parse(note["created_at"].trim())) : null

const modelStatement = (sent: Wire): ModelStatement => {
  const { gross_amount, statement_id, statement_path, ...others } = sent
  return {
    id: textOf(statement_id),
    fields: {
      ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, textOf(value)])),
      ...(statement_path !== undefined && { statement_path: without(statement_path) }),
      ...(gross_amount !== undefined && { gross_amount: String(cents(gross_amount)) })
    }
  }
}

const sum = (amounts: ReadonlyArray<bigint>): bigint =>
  amounts.reduce((total, each) => total + each, 0n)

const openingOf = (ledger: Wire): bigint =>
  ledger["ledger_balance"] === undefined
    ? cents(ledger["last_statement_balance"] ?? 0) +
      sum(
        objectsAt(ledger, "current_statement_transactions").map(
          (sent) => modelTransaction(sent).effect
        )
      )
    : cents(ledger["ledger_balance"])

/** The account that a staged payload becomes at the instant. */
export const openedAccount = (payload: Wire, createdAt: number): ModelAccount => {
  const ledgers = objectsAt(payload, "ledgers")
  const transfer = payload["transfer_balance"]
  const closings = ledgers.flatMap((ledger) => ledger["last_statement_closing_date"] ?? [])
  return {
    balance:
      ledgers.length === 0 && transfer !== undefined
        ? cents(transfer)
        : sum(ledgers.map(openingOf)),
    closing: closings.map(textOf).toSorted().at(-1) ?? null,
    transactions: ledgers.flatMap((ledger) =>
      ["historical_statement_transactions", "current_statement_transactions"].flatMap((list) =>
        objectsAt(ledger, list).map(modelTransaction)
      )
    ),
    notes: objectsAt(payload, "notes").map((note) => ({
      content: contentOf(note),
      at: sentAt(note) ?? second(createdAt)
    })),
    statements: objectsAt(payload, "statements").map(modelStatement),
    instruction: null
  }
}

/** The account after a request, and its answer. */
interface Decided {
  readonly account: ModelAccount
  readonly answer: Answer
}

const addNotes = (account: ModelAccount, order: Order<"notes">, now: number): Decided => {
  const there = [...account.notes]
  const results = order.notes.map((sent) => {
    const content = contentOf(sent)
    const at = sentAt(sent)
    const same = there.find((note) => note.content === content && (at === null || note.at === at))
    if (same !== undefined) return `NOTE_ALREADY_EXISTS ${same.at}`
    there.push({ content, at: at ?? second(now) })
    return `NOTE_CREATION_SUCCESS ${at ?? second(now)}`
  })
  return {
    account: { ...account, notes: there },
    answer: { code: "ok", message: results.join(", ") }
  }
}

const nextDay = (day: string): string =>
  new Date(Date.parse(day) + 24 * 60 * 60 * 1000).toISOString().slice(0, 10)

const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** The day of the instant in the time zone; Swedish dates have the format of the contract. */
const dayIn = (timeZone: string, now: number): string => {
  const known = dayFormats.get(timeZone)
  const format = known ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })
  dayFormats.set(timeZone, format)
  return format.format(now)
}

const addTransactions = (
  account: ModelAccount,
  order: Order<"transactions">,
  now: number
): Decided => {
  const today = dayIn(timeZones.get(order.key.import_supplier) ?? "UTC", now)
  const from = account.closing === null ? "0000-00-00" : nextDay(account.closing)
  const refused = (code: string) => ({ account, answer: { code, message: "" } })
  const added: Array<ModelTransaction> = []
  const results: Array<string> = []
  const moves: Array<string> = []
  const seen = new Set<string>()
  for (const wire of order.transactions) {
    const sent = modelTransaction(wire)
    if (seen.has(sent.id)) return refused("duplicate_transaction_ids")
    seen.add(sent.id)
    const there = account.transactions.find(({ id }) => id === sent.id)
    if (order.check && there !== undefined) {
      results.push(`TRANSACTION_ALREADY_EXISTS ${there.date}`)
      continue
    }
    const isInside = sent.date >= from && sent.date <= today
    if (!isInside && !order.force) return refused("transaction_outside_open_period")
    const nearest = sent.date < from && from < today ? from : today
    const date = isInside ? sent.date : nearest
    if (date !== sent.date) moves.push(`${sent.id}: ${sent.date} to ${date}`)
    added.push({ ...sent, date })
    results.push(`TRANSACTION_ADDED_TO_ACCOUNT ${date}`)
  }
  const notes = moves.length === 0 ? [] : [{ content: movedContent(moves), at: second(now) }]
  return {
    account: {
      ...account,
      balance: account.balance + sum(added.map(({ effect }) => effect)),
      transactions: [...account.transactions, ...added],
      notes: [...account.notes, ...notes]
    },
    answer: { code: "ok", message: results.join(", ") }
  }
}

const movedSentence = "Imported transactions moved into the open statement period:"

const movedContent = (moves: ReadonlyArray<string>): string =>
  `body ${movedSentence}\n${moves.join("\n")}`

const addStatements = (account: ModelAccount, order: Order<"statements">): Decided => {
  const sent = order.statements.map(modelStatement)
  const statements = new Map(account.statements.map((each) => [each.id, each]))
  const other = sent.flatMap(({ fields, id }, index) => {
    const there = statements.get(id)?.fields ?? {}
    const isOther = Object.entries(fields).some(([name, value]) => (there[name] ?? value) !== value)
    return isOther ? [`statements.${index}:historical_statement_already_exists`] : []
  })
  if (other.length > 0) {
    return { account, answer: { code: "request_failed_validation", message: other.join(" ") } }
  }
  for (const { fields, id } of sent) {
    statements.set(id, { id, fields: { ...fields, ...statements.get(id)?.fields } })
  }
  return {
    account: { ...account, statements: [...statements.values()] },
    answer: { code: "ok", message: sent.map(({ id }) => id).join(", ") }
  }
}

/** An instruction as one word. */
export const instructionOf = (sent: Wire): string =>
  `${textOf(sent["vendor"])} ${textOf(sent["reference"])}`

const addInstruction = (
  account: ModelAccount,
  { instruction }: Order<"instruction">,
  number: string
): Decided => {
  const wanted = instructionOf(instruction)
  if (account.instruction !== null && account.instruction !== wanted) {
    return { account, answer: { code: "active_payment_instruction_exists", message: "" } }
  }
  return { account: { ...account, instruction: wanted }, answer: { code: "ok", message: number } }
}

/** The account after a request that adds to it; `now` is when the request was sent. */
export const decide = (
  account: ModelAccount,
  order: Order<"notes" | "transactions" | "statements" | "instruction">,
  { now, number }: { readonly now: number; readonly number: string }
): Decided => {
  switch (order.kind) {
    case "notes":
      return addNotes(account, order, now)
    case "transactions":
      return addTransactions(account, order, now)
    case "statements":
      return addStatements(account, order)
    case "instruction":
      return addInstruction(account, order, number)
  }
}

/** A statement of the payload that was completed is there a second time, as a whole. */
const lastOfEach = (statements: ReadonlyArray<ModelStatement>): ReadonlyArray<ModelStatement> => [
  ...new Map(statements.map((each) => [each.id, each])).values()
]

/** The account that a storage returns, in the terms of the model. */
export const fromDescription = (description: AccountDescription): ModelAccount => {
  const json = encodeDescription(description) as unknown as Wire
  const instruction = objectsAt(json, "payment_instructions").map(instructionOf)
  const sent = (wire: Wire): Wire =>
    Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null))
  return {
    balance: cents(json["balance"]),
    closing: null,
    transactions: objectsAt(json, "transactions").map(modelTransaction),
    notes: objectsAt(json, "notes").map((note) => ({
      content: contentOf(sent({ body: note["body"], document_paths: note["documents"] })),
      at: textOf(note["created_at"])
    })),
    statements: lastOfEach(
      objectsAt(json, "statements").map(({ document, origin: _, ...statement }) => {
        const statement_path = get(document, "document_path") ?? null
        return modelStatement(sent({ ...statement, statement_path }))
      })
    ),
    instruction: instruction.length === 0 ? null : instruction.join(" and ")
  }
}

/** The account as lines of text, in no particular order. */
export const linesOf = (account: ModelAccount): ReadonlyArray<string> => [
  `balance ${account.balance}`,
  ...account.transactions.map(({ date, effect, id }) => `transaction ${id} ${date} ${effect}`),
  ...account.notes.map(({ at, content }) => `note ${at} ${content}`),
  ...account.statements.map(
    ({ fields, id }) => `statement ${id} ${JSON.stringify(Object.entries(fields).toSorted())}`
  ),
  ...(account.instruction === null ? [] : [`instruction ${account.instruction}`])
]
