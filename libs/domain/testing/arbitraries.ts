/**
 * Valid account payloads over the whole breadth of the schema: every type of account, every
 * optional field with and without, text at its limits and in odd scripts, dates at their bounds.
 * Ledgers, whose sums must be exact, come from `arbitrariesOfMoney`.
 */
import { DateTime } from "effect"
import fc from "fast-check"
import { salesChannels } from "../src/accounts/Account.ts"
import { dayOf } from "../src/schema/Field.ts"
import { ledgers } from "./arbitrariesOfMoney.ts"
import { day, documentPath, filled, metadata, optionally, text } from "./arbitrariesOfFields.ts"
import { sampleTime } from "./samples.ts"
import type { Wire } from "./wire.ts"

const email = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9][a-z0-9.+_-]{0,40}$/),
    fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/)
  )
  .map(([local, domain]) => `${local}@${domain}.example.com`)

const phoneNumber = fc.oneof(
  fc.integer({ min: 20_000_000, max: 99_999_999 }).map((number) => `+45${number}`),
  fc.constantFrom("+44 20 7946 0958", "+1 (212) 555-0100", " +49-30-1234567", "+33 1 09 75 83 51")
)

const preferences = fc.record(
  {
    opted_into_sms: fc.boolean(),
    opted_into_recommended: fc.boolean(),
    opted_into_updates: fc.boolean(),
    opted_into_third_parties: fc.boolean(),
    opted_into_offers: fc.boolean(),
    is_user_psr_consent_obtained: fc.option(fc.boolean())
  },
  { requiredKeys: [] }
)

const customer = (now: DateTime.Utc, needsFamilyName: boolean) =>
  optionally(
    { ...(needsFamilyName ? { family_name: filled(255) } : {}) },
    {
      given_name: text(255),
      ...(needsFamilyName ? {} : { family_name: text(255) }),
      email,
      mobile: phoneNumber,
      landline: phoneNumber,
      date_of_birth: fc.oneof(fc.constantFrom("1900-01-01", dayOf(now)), day(now, -40_000, 0)),
      title: text(20),
      salutation: text(128),
      customer_preferences: preferences
    }
  )

const street = fc.oneof(
  fc.record({ street_address: text(512) }),
  fc.record({ structured_street_address: fc.oneof(fc.constant(null), metadata.value) }),
  fc.record({ street_address: text(512), structured_street_address: fc.constant(null) }),
  fc.constant({})
)

const billingAddress = fc
  .tuple(
    street,
    optionally(
      { country: fc.constantFrom("DK", "dk", "gB", " SE ", "AX") },
      {
        name: text(256),
        organization: text(256),
        locality: text(512),
        postal_code: text(32),
        delivery_point_identifier: fc.stringMatching(/^[A-Z0-9]{0,11}$/)
      }
    )
  )
  .map(([lines, rest]): Wire => ({ ...lines, ...rest }))

const month = fc.integer({ min: 1, max: 12 })
const start = { period_start_day: fc.integer({ min: 1, max: 28 }) }

const billingOptions = fc.oneof(
  optionally(
    { period_length: fc.constant("MONTHLY"), ...start },
    { period_start_month: fc.option(month), use_industry_billing: fc.constant(false) }
  ),
  optionally(
    { period_length: fc.constant("QUARTERLY"), period_start_month: month, ...start },
    { use_industry_billing: fc.constant(false) }
  ),
  optionally({ use_industry_billing: fc.constant(true) }, { period_start_month: fc.constant(null) })
)

const spellings: ReadonlyArray<(instant: DateTime.Utc) => string> = [
  (instant) => DateTime.formatIso(instant),
  (instant) => DateTime.formatIso(instant).replace(/\.\d+Z$/, "Z"),
  (instant) => DateTime.formatIso(DateTime.add(instant, { hours: 2 })).replace(/\.\d+Z$/, "+02:00"),
  (instant) =>
    ` ${DateTime.formatIso(DateTime.subtract(instant, { minutes: 30 })).replace("Z", "-00:30")}`
]

const spelled = (instant: DateTime.Utc) =>
  fc.constantFrom(...spellings).map((spell) => spell(instant))

const notes = (now: DateTime.Utc) => {
  const content = fc.oneof(
    optionally({ body: filled(10_000) }, { document_paths: documents }),
    optionally({ document_paths: documents }, { body: filled(10_000) })
  )
  const times = fc
    .tuple(fc.integer({ min: -10_000, max: 1_000 }), fc.nat(1_000), fc.boolean(), fc.boolean())
    .chain(([age, pinned, isCreated, isUnpinned]) => {
      const created = DateTime.add(now, { hours: age })
      const unpinned = DateTime.add(isCreated ? created : now, { hours: pinned })
      return fc.record({
        ...(isCreated ? { created_at: spelled(created) } : {}),
        ...(isUnpinned ? { is_pinned: fc.boolean(), unpin_at: spelled(unpinned) } : {})
      })
    })
  const note = fc.tuple(content, times).map(([content, when]): Wire => ({ ...content, ...when }))
  return fc.array(note, { maxLength: 3 })
}

const documents = fc.array(fc.record({ document_path: documentPath }), {
  minLength: 1,
  maxLength: 2
})

const statements = (now: DateTime.Utc) =>
  fc.uniqueArray(
    fc
      .tuple(day(now, -20_000, 0), day(now, 0, 20_000), filled(128), fc.option(documentPath))
      .map(([from, to, id, path]): Wire => ({
        bill_period_from_date: from,
        bill_period_to_date: to,
        statement_id: id,
        ...(path === null ? {} : { statement_path: path })
      })),
    { maxLength: 3, selector: (statement) => String(statement["statement_id"]).trim() }
  )

const supplyAddresses = (now: DateTime.Utc, maxLength: number) =>
  fc.uniqueArray(
    optionally(
      {
        customer_at_supply_address_from_date: day(now, -20_000, 20_000),
        supply_postcode: filled(10),
        supply_address1: filled(512)
      },
      { primary_place_of_residence_since: day(now, -20_000, 20_000) }
    ),
    {
      maxLength,
      selector: (address) =>
        [address["supply_address1"], address["supply_postcode"]]
          .map((part) => String(part).trim())
          .join("\n")
    }
  )

const typesWithoutCustomer = [
  "SYSTEM",
  "DOMESTIC_VACANT",
  "BUSINESS_VACANT",
  "DOMESTIC_OCCUPIER",
  "BUSINESS_OCCUPIER"
]

const otherTypes = [
  "DOMESTIC",
  "BUSINESS",
  "MANAGED",
  "PORTFOLIO_LEAD",
  "DOMESTIC_THIRD_PARTY_BILLED",
  "BUSINESS_THIRD_PARTY_BILLED"
]

/**
 * The occupants: customers, an unknown occupier, or nobody, as the account type allows.
 */
const occupation = (now: DateTime.Utc): fc.Arbitrary<Wire> => {
  const type = (name: string | null) => (name === null ? {} : { account_type: fc.constant(name) })
  const known = fc.constantFrom(null, ...otherTypes, ...typesWithoutCustomer).chain((name) =>
    optionally(
      {
        ...type(name),
        customers: fc.array(customer(now, name === null || name === "DOMESTIC"), {
          minLength: 1,
          maxLength: 3
        })
      },
      { unknown_occupier: fc.constant(false), supply_addresses: supplyAddresses(now, 3) }
    )
  )
  const nobody = fc.constantFrom(...typesWithoutCustomer).chain((name) =>
    optionally(type(name), {
      unknown_occupier: fc.constant(false),
      customers: fc.constant([]),
      supply_addresses: supplyAddresses(now, 3)
    })
  )
  const unknown = fc
    .constantFrom(null, ...otherTypes, ...typesWithoutCustomer)
    .chain((name) =>
      optionally(
        { ...type(name), unknown_occupier: fc.constant(true) },
        { customers: fc.constant([]), supply_addresses: supplyAddresses(now, 1) }
      )
    )
  return fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: nobody }, unknown)
}

const rest = (now: DateTime.Utc) =>
  optionally(
    {},
    {
      billing_email: email,
      billing_name: text(510),
      billing_sub_name: text(256),
      billing_customer_reference: text(256),
      billing_address: billingAddress,
      account_billing_options: billingOptions,
      date_of_sale: fc.oneof(fc.constantFrom("0001-01-01", "9999-12-31"), day(now, -9_000, 9_000)),
      sales_channel: fc.constantFrom(...salesChannels),
      sales_subchannel: text(256),
      communication_preference: fc.constantFrom("ONLINE", "PRINT"),
      document_accessibility: fc.constantFrom("LARGE_PRINT", "BRAILLE", "SPOKEN"),
      notes: notes(now),
      statements: statements(now),
      metadata: metadata.list,
      operations_team_name: text(128)
    }
  )

const externalAccountNumber = filled(128)
  .map((number) =>
    number
      .trim()
      .replace(/\p{Cc}/gu, "-")
      .trim()
  )
  .filter((number) => !["", ".", ".."].includes(number))

/** Requirements of a test on a payload. */
interface Options {
  /** The instant as of which the payload is valid; that of the samples unless stated otherwise. */
  readonly now?: DateTime.Utc
  /** The supplier; any unless stated otherwise. */
  readonly supplier?: string
}

/** Valid account payloads, as parsed JSON that is not wrapped in `payload`. */
export const accountPayload = ({ now = sampleTime, supplier }: Options = {}): fc.Arbitrary<Wire> =>
  fc
    .tuple(
      fc.record({
        import_supplier: supplier === undefined ? filled(32) : fc.constant(supplier),
        external_account_number: externalAccountNumber
      }),
      occupation(now),
      rest(now),
      ledgers(now)
    )
    .chain((parts) => {
      const fields = parts.flatMap((part) => Object.entries(part))
      return fc.shuffledSubarray(fields, { minLength: fields.length })
    })
    .map((fields) => JSON.parse(JSON.stringify(Object.fromEntries(fields))) as Wire)
