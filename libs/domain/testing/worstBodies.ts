/**
 * Bodies of a given size made to keep a service busy, as an attacker would send to slow down all
 * others. Each is for the operation whose fields it abuses.
 */
import { domesticPayload, notesPayload, statementsPayload } from "./samples.ts"

export type Operation = "stage" | "process" | Addition

type Addition = "notes" | "transactions" | "statements" | "instruction"

/** The account that the bodies name. */
export interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

export interface WorstBody {
  readonly called: string
  readonly operation: Operation
  readonly text: () => string
}

/** The limit of list elements; the content of a longer list is not validated. */
const elements = 10_000

const repeated = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length))

/** As many elements as fit into the size, and at least one. */
const many = (element: (index: number) => string, size: number): string => {
  const parts = [element(0)]
  let length = parts.join().length
  for (;;) {
    const next = element(parts.length)
    length += next.length + 1
    if (length > size) return parts.join()
    parts.push(next)
  }
}

/** A list of the maximum length. Each element has its share of the size, padded with blanks. */
const full = (element: (index: number, size: number) => string, size: number): string => {
  const share = Math.ceil(size / elements)
  return `[${many((index) => element(index, share).padEnd(share), size)}]`
}

/** Many lists of short elements, each in a ledger, to fill the size. */
const ledgersOf = (element: string, size: number): string => {
  const list = `[${many(() => element, elements * (element.length + 1))}]`
  const ledger = (index: number) =>
    `{"ledger_code":"L${index}","current_statement_transactions":${list}}`
  return `[${many(ledger, size)}]`
}

const hole = "<here>"

/** The body with the text in place of the hole; the result may be invalid JSON. */
const around = (body: object, text: string): string =>
  JSON.stringify(body).split(JSON.stringify(hole)).join(text)

/** A member as JSON text. */
const member = (key: string, value: string): string => `${JSON.stringify(key)}:${value}`

const unknownMembers = (size: number): string => many((index) => `"unknown${index}":0`, size)

const wrongEverywhere = (sample: object, value: string): string =>
  `{${Object.keys(sample)
    .map((key) => member(key, value))
    .join(",")}}`

const sized = (sample: object, name: string, unit: string, size: number): string =>
  around({ ...sample, [name]: hole }, `"${repeated(unit, size)}"`)

/** How each kind of element is broken; the sample is a valid one. */
const brokenElements = (
  sample: object
): Readonly<Record<string, (index: number, size: number) => string>> => ({
  "unknown fields": (_, size) => `{${unknownMembers(size)}}`,
  "wrong types": () => wrongEverywhere(sample, "[]"),
  nulls: () => wrongEverywhere(sample, "null"),
  "empty objects": () => "{}"
})

const transaction = {
  transaction_id: "T",
  transaction_date: "2025-05-01",
  amount: "0.01",
  type: "CREDIT"
}

const valid =
  (sample: object, id: string, padding: string) =>
  (index: number, size: number): string =>
    JSON.stringify({ ...sample, [id]: `W-${index}`, [padding]: "x".repeat(Math.min(size, 900)) })

/** A note that refers to a few documents many times. */
const referring = (index: number, size: number): string => {
  const reference = (number: number) => `{"document_path":"${number % 1_000}"}`
  return `{"body":"W-${index}","document_paths":[${many(reference, size - 60)}]}`
}

const customer = domesticPayload().customers[0] as object
const note = notesPayload().notes[2] as object
const statement = statementsPayload().statements[0] as object

/** A field of the account, and its JSON. */
type Filled = readonly [field: string, json: () => string]

/** A ledger with these current transactions. */
const ledger = (transactions: () => string): Filled => [
  "ledgers",
  () =>
    `[{"ledger_code":"L","ledger_balance":0,"current_statement_transactions":${transactions()}}]`
]

const lineItem =
  '{"start_date":"2025-01-02","end_date":"2025-01-01","number_of_units":3,' +
  '"net_amount":1,"price_per_unit":0.0000001,"units":[1,2,3]}'

const ledgerBodies = (size: number): Readonly<Record<string, Filled>> => ({
  "nulls in lists": ["ledgers", () => ledgersOf("null", size)],
  "numbers in lists": ["ledgers", () => ledgersOf("1", size)],
  "empty objects in lists": ["ledgers", () => ledgersOf("{}", size)],
  "one id for all transactions": ledger(() =>
    full(() => JSON.stringify({ ...transaction, note: "x".repeat(900) }), size)
  ),
  "valid transactions": ledger(() => full(valid(transaction, "transaction_id", "note"), size)),
  "decimals of a thousand digits": ledger(() =>
    full((_, share) => around({ ...transaction, amount: hole }, `1${repeated("9", share)}`), size)
  ),
  "decimals with exponents": ledger(() =>
    full(() => around({ ...transaction, amount: hole }, "1e-999999999"), size)
  ),
  "line items": ledger(() => {
    const charge = { ...transaction, type: "SUPPLY_CHARGE", line_items: hole }
    const items = `[${many(() => lineItem, elements * 100)}]`
    return `[${many(() => around(charge, items), size)}]`
  })
})

const metadataBodies = (size: number): Readonly<Record<string, Filled>> => {
  const metadata = (
    valueOf: (share: number) => string,
    keyOf: (index: number) => string
  ): Filled => [
    "metadata",
    () => full((index, share) => `{"key":"${keyOf(index)}","value":${valueOf(share)}}`, size)
  ]
  const deep = `${'{"a":'.repeat(26)}1${"}".repeat(26)}`
  return {
    "one key for all metadata": metadata(
      (share) => `{"a":"${"x".repeat(share)}"}`,
      () => "k"
    ),
    "deep metadata": metadata(
      (share) => `{"a":[${many(() => deep, share)}]}`,
      (index) => `k${index}`
    ),
    "metadata without an end": ["metadata", () => `[{"key":"k","value":${repeated('{"a":', size)}`],
    "wide metadata": [
      "metadata",
      () => {
        const wide = `[${many(() => "[]", elements * 2)}]`
        return `[{"key":"k","value":{"a":[${many(() => wide, size)}]}}]`
      }
    ]
  }
}

const customerBodies = (size: number): Readonly<Record<string, Filled>> => ({
  "phone numbers": [
    "customers",
    () =>
      full(
        (_, share) => sized({ ...customer, mobile: "+4520314579000000" }, "landline", "+4", share),
        size
      )
  ],
  "possible phone numbers": [
    "customers",
    () => {
      const phones = { mobile: `+45${" ".repeat(50)}20314579`, landline: `+1${"(".repeat(60)}` }
      return full((_, share) => sized(phones, "salutation", " ", share), size)
    }
  ],
  "customers of wrong types": ["customers", () => full(() => wrongEverywhere(customer, "[]"), size)]
})

const textBodies = (size: number): Readonly<Record<string, Filled>> => ({
  "a date of megabytes": ["date_of_sale", () => `"${repeated("2025-01-01", size)}"`],
  "datetimes of many digits": [
    "notes",
    () =>
      full(
        (_, share) => `{"body":"a","created_at":"2025-01-01T10:00:00.${repeated("0", share)}Z"}`,
        size
      )
  ],
  "a decimal of megabytes": ["transfer_balance", () => `1${repeated("0", size)}1`],
  "a decimal of megabytes as text": ["transfer_balance", () => `"0.${repeated("0", size)}1"`],
  "an e-mail address of labels": ["billing_email", () => `"a@a${repeated(".a", size)}"`],
  "a text of escapes": ["billing_name", () => `"${repeated("\\u0061", size)}"`],
  "a text of blanks": ["billing_name", () => `"x${" ".repeat(size)}x"`],
  "a text of emoji": ["billing_name", () => `"${repeated("😀", size / 2)}"`]
})

const accountBodies = (key: Key, size: number): ReadonlyArray<WorstBody> => {
  const payload = { ...domesticPayload(), ...key }
  const filled = {
    ...ledgerBodies(size),
    ...metadataBodies(size),
    ...customerBodies(size),
    ...textBodies(size)
  }
  const known = JSON.stringify(payload).slice(1, -1)
  return [
    {
      called: "unknown fields",
      operation: "stage",
      text: () => `{"payload":{${known},${unknownMembers(size)}}}`
    },
    ...Object.entries(filled).map(([called, [field, json]]) => ({
      called,
      operation: "stage" as const,
      text: () => around({ payload: { ...payload, [field]: hole } }, json())
    }))
  ]
}

const additionBodies = (key: Key, size: number): ReadonlyArray<WorstBody> => {
  const lists: Readonly<
    Record<Exclude<Addition, "instruction">, readonly [sample: object, id: string, pad: string]>
  > = {
    notes: [note, "body", "body"],
    transactions: [{ ...transaction, note: "" }, "transaction_id", "note"],
    statements: [statement, "statement_id", "statement_path"]
  }
  const listIn =
    (operation: keyof typeof lists) => (element: (index: number, size: number) => string) => () =>
      around({ ...key, [operation]: hole }, full(element, size))
  const references: WorstBody = {
    called: "many references to few documents",
    operation: "notes",
    text: listIn("notes")(referring)
  }
  const ofLists = Object.entries(lists).flatMap(([name, [sample, id, padding]]) => {
    const operation = name as keyof typeof lists
    const list = listIn(operation)
    return [
      ...Object.entries(brokenElements(sample)).map(([called, element]) => ({
        called,
        operation,
        text: list(element)
      })),
      { called: "one and the same", operation, text: list(() => JSON.stringify(sample)) },
      { called: "valid", operation, text: list(valid(sample, id, padding)) }
    ]
  })
  return [...ofLists, references]
}

/** Bodies that abuse JSON itself, and so any operation. */
const anyBodies = (size: number): Readonly<Record<string, () => string>> => ({
  "lists without an end": () => repeated("[", size),
  "objects without an end": () => repeated('{"a":', size),
  "a name again and again": () => `{${many(() => '"a":1', size)}}`,
  names: () => `{${unknownMembers(size)}}`,
  blanks: () => `${" ".repeat(size)}{}`,
  "an object of a long name": () => `{"${repeated("\\u0061", size)}":1}`,
  "a text that does not end": () => `{"a":"${repeated("\\\\", size)}`
})

/** One operation for each service, because JSON is parsed before the operation matters. */
const operations: ReadonlyArray<Operation> = ["process", "instruction"]

/** Bodies of about `size` characters on the account. */
export const worstBodies = (key: Key, size: number): ReadonlyArray<WorstBody> => [
  ...accountBodies(key, size),
  ...additionBodies(key, size),
  ...operations.flatMap((operation) =>
    Object.entries(anyBodies(size)).map(([called, text]) => ({ called, operation, text }))
  )
]
