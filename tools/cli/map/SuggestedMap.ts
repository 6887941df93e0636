/** Puts the suggestions for all columns together to a map that fits its file. */
import type { CsvForm } from "./CsvForm.ts"
import { fieldNamed, type Field } from "./Synonyms.ts"
import { isMobile, type SeenColumn, suggestColumn } from "./Suggestion.ts"

type Mapped = SeenColumn & { readonly field: Field }

/** The columns of each field in the order of the header, and those that have none. */
interface Assigned {
  readonly byTarget: ReadonlyMap<string, ReadonlyArray<Mapped>>
  readonly ignored: ReadonlySet<string>
  readonly remarks: ReadonlyArray<string>
}

/** At least four of five cells. */
const isEmail = ({ profile: { emails, filled } }: SeenColumn): boolean =>
  emails > 0 && emails * 5 >= filled * 4

const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(", ")

/** A phone is a mobile if its numbers are, and no other column is named so. */
const withMobiles = (columns: ReadonlyArray<SeenColumn>): ReadonlyArray<SeenColumn> =>
  columns.map((column) => {
    if (column.field === null || !isMobile(column)) return column
    const to = column.field.to.replace("landline", "mobile")
    const isTaken = columns.some(({ field }) => field?.to === to)
    return isTaken ? column : { ...column, field: { ...column.field, to } }
  })

/** A column of an unknown name may be known by its cells. */
const recognised = (columns: ReadonlyArray<SeenColumn>): ReadonlyArray<SeenColumn> => {
  const email = fieldNamed("email")
  if (columns.some(({ field }) => field?.to === email?.to)) return columns
  const found = columns.find((column) => column.field === null && isEmail(column))
  return columns.map((column) => (column === found ? { ...column, field: email } : column))
}

/** A second customer has a name. Otherwise it is another number or address of the first. */
const secondCustomer = "/customers/1/"

const assign = (columns: ReadonlyArray<SeenColumn>): Assigned => {
  const byTarget = new Map<string, ReadonlyArray<Mapped>>()
  const ignored = new Set<string>()
  const remarks: Array<string> = []
  const names = columns.map(({ name }) => name)
  const isJoint = columns.some(({ field }) => field?.to === `${secondCustomer}family_name`)
  for (const column of withMobiles(recognised(columns))) {
    const { field, name, profile } = column
    const earlier = field === null ? undefined : byTarget.get(field.to)
    if (name === "") {
      if (profile.filled > 0) ignored.add(name)
    } else if (names.indexOf(name) !== names.lastIndexOf(name)) {
      if (!ignored.has(name)) remarks.push(`"${name}" occurs more than once: name one otherwise`)
      ignored.add(name)
    } else if (field === null || (!isJoint && field.to.startsWith(secondCustomer))) {
      ignored.add(name)
    } else if (earlier === undefined || field.isJoined === true) {
      byTarget.set(field.to, [...(earlier ?? []), { ...column, field }])
    } else {
      ignored.add(name)
      remarks.push(`"${name}" may be ${field.to}, which ${quoted([earlier[0]?.name ?? ""])} is`)
    }
  }
  return { byTarget, ignored, remarks }
}

const ledgerTarget = /^\/ledgers\/([A-Z]+)\//

/** The codes of the ledgers in their order. */
const ledgersOf = (targets: Iterable<string>): ReadonlyArray<string> => [
  ...new Set([...targets].flatMap((to) => ledgerTarget.exec(to)?.[1] ?? []))
]

const isHouse = ({ name }: Mapped): boolean => /house|hausn|hnr/i.test(name)

/** What a group needs as soon as it has any field. */
const needed: ReadonlyArray<readonly [group: string, fields: ReadonlyArray<string>]> = [
  ["", ["external_account_number"]],
  ["/customers/0", ["family_name"]],
  ["/billing_address", ["country"]],
  [
    "/supply_addresses/0",
    ["supply_address1", "supply_postcode", "customer_at_supply_address_from_date"]
  ],
  ["/account_billing_options", ["period_length", "period_start_day"]]
]

/** Why a balance is no `ledger_balance`: that must follow from transactions. */
const balanceRemarks = (
  byTarget: Assigned["byTarget"],
  ledgers: ReadonlyArray<string>
): ReadonlyArray<string> => {
  if (ledgers.length === 0) return []
  const [total] = byTarget.get("/transfer_balance") ?? []
  return [
    "The balance of each ledger goes to last_statement_balance, because the file has no transactions: " +
      "a ledger_balance must equal last_statement_balance and the transactions",
    ...(total === undefined
      ? []
      : [`"${total.name}": in each row it must equal the sum of the ledgers' balances`])
  ]
}

const countryTarget = "/billing_address/country"

const neededRemarks = (targets: ReadonlySet<string>): ReadonlyArray<string> =>
  needed.flatMap(([group, fields]) => {
    if (![...targets].some((to) => to.startsWith(`${group}/`))) return []
    const missing = fields.map((field) => `${group}/${field}`).filter((to) => !targets.has(to))
    if (missing.length === 0) return []
    const how = missing.includes(countryTarget) ? ": give --country, like --country GB" : ""
    return [`No column is recognised as ${missing.join(", ")}, which is needed${how}`]
  })

export const suggestedMap = (
  columns: ReadonlyArray<SeenColumn>,
  { delimiter, encoding }: CsvForm,
  country: string | null
) => {
  const { byTarget, ignored, remarks } = assign(columns)
  const ledgers = ledgersOf(byTarget.keys())
  const described: Record<string, unknown> = {}
  const joins: Array<object> = []
  const about: Array<string> = []
  for (const [target, [first, ...others]] of byTarget) {
    if (first === undefined) continue
    const to = target.replace(
      ledgerTarget,
      (_, code: string) => `/ledgers/${ledgers.indexOf(code)}/`
    )
    const all = [first, ...others]
    if (others.length > 0) {
      const separator = all.some(isHouse) ? " " : ", "
      joins.push({ to, columns: all.map(({ name }) => name), separator })
      continue
    }
    const suggested = suggestColumn(first, to, country)
    described[first.name] = suggested.column
    about.push(...suggested.remarks.map((remark) => `"${first.name}": ${remark}`))
  }
  const targets = new Set(byTarget.keys())
  const hasAddress = [...targets].some((to) => to.startsWith("/billing_address/"))
  const isCountryGiven = country !== null && hasAddress && !targets.has(countryTarget)
  if (isCountryGiven) targets.add(countryTarget)
  const constants = {
    ...(isCountryGiven && { [countryTarget]: country }),
    ...Object.fromEntries(ledgers.map((code, at) => [`/ledgers/${at}/ledger_code`, code]))
  }
  return {
    map: {
      ...(delimiter !== "," && { delimiter }),
      ...(encoding !== "utf-8" && { encoding }),
      ...(Object.keys(constants).length > 0 && { constants }),
      columns: described,
      ...(joins.length > 0 && { joins }),
      ...(ignored.size > 0 && { ignore: [...ignored] })
    },
    remarks: [
      ...about,
      ...balanceRemarks(byTarget, ledgers),
      ...remarks,
      ...neededRemarks(targets),
      ...(ignored.size > 0 ? [`Not mapped, and ignored: ${quoted(ignored)}`] : [])
    ]
  }
}
