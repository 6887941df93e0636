/**
 * The names that columns have in exports, in English and German, by the field that they are. Names
 * are compared as letters and digits without accents or case: "E-mail" is `email`, "Straße" is
 * `strasse`.
 */

/** How the cells of a field are recognised. The words of a choice are names in the same form. */
export type Kind =
  | "text"
  | "email"
  | "money"
  | "date"
  | "phone"
  | "integer"
  | "country"
  | { readonly words: Readonly<Record<string, string>> }

export interface Field {
  readonly to: string
  readonly kind: Kind
  /** Whether several columns are joined to one text, like street and house number. */
  readonly isJoined?: boolean
  /** Whether a positive number is a debt by its name. */
  readonly isDebt?: boolean
  /** Whether the name leaves open which kind of phone it is. */
  readonly isAnyPhone?: boolean
}

const yesAndNo = {
  true: "y yes true t 1 j ja wahr x",
  false: "n no false f 0 nein falsch"
} as const

const choice = (words: Readonly<Record<string, string>>) => ({ words })
const boolean = choice(yesAndNo)

const accountTypes = choice({
  DOMESTIC: "domestic dom d residential res household private privat privatkunde haushalt pk",
  BUSINESS: "business bus b commercial com company gewerbe gewerblich firma geschaeftskunde gk"
})

const communication = choice({
  ONLINE: "online email mail digital e paperless elektronisch",
  PRINT: "print paper post letter p brief postal papier"
})

const paperless = choice({ ONLINE: yesAndNo.true, PRINT: yesAndNo.false })

const accessibility = choice({
  LARGE_PRINT: "largeprint large grossdruck",
  BRAILLE: "braille blindenschrift",
  SPOKEN: "spoken audio hoerfassung"
})

const periods = choice({
  MONTHLY: "monthly month m monat monatlich 1",
  QUARTERLY: "quarterly quarter q quartal vierteljaehrlich 3"
})

const fields: ReadonlyArray<readonly [names: string, Field]> = [
  [
    "externalaccountnumber accountnumber accountno accountnr accountid accountref account acctno " +
      "acctnumber customernumber customerno customerid custno kundennummer kundennr kdnr kundenid " +
      "kontonummer kontonr konto vertragskonto vertragskontonummer vertragsnummer",
    { to: "/external_account_number", kind: "text" }
  ],
  ["importsupplier", { to: "/import_supplier", kind: "text" }],
  [
    "accounttype customertype type kind segment kundentyp kundenart kundengruppe",
    { to: "/account_type", kind: accountTypes }
  ],
  ["title anrede titel", { to: "/customers/0/title", kind: "text" }],
  ["salutation briefanrede greeting", { to: "/customers/0/salutation", kind: "text" }],
  [
    "firstname givenname forename christianname vorname rufname",
    { to: "/customers/0/given_name", kind: "text" }
  ],
  [
    "lastname familyname surname name nachname familienname zuname fullname customername",
    { to: "/customers/0/family_name", kind: "text" }
  ],
  [
    "email emailaddress emailaddr mail mailadresse emailadresse",
    { to: "/customers/0/email", kind: "email" }
  ],
  [
    "mobile mobileno mobilenumber mobilephone cell cellphone mobil mobilnummer mobiltelefon handy " +
      "handynummer",
    { to: "/customers/0/mobile", kind: "phone" }
  ],
  [
    "phone phoneno phonenumber telephone telephoneno telephonenumber tel telno telefon " +
      "telefonnummer telefonnr",
    { to: "/customers/0/landline", kind: "phone", isAnyPhone: true }
  ],
  ["landline homephone festnetz", { to: "/customers/0/landline", kind: "phone" }],
  [
    "dateofbirth birthdate birthday dob born geburtsdatum geburtstag gebdatum geboren",
    { to: "/customers/0/date_of_birth", kind: "date" }
  ],
  [
    "sms smsconsent smsoptin smsok",
    { to: "/customers/0/customer_preferences/opted_into_sms", kind: boolean }
  ],
  [
    "marketing marketingconsent marketingoptin offers optin newsletter werbung werbeeinwilligung",
    { to: "/customers/0/customer_preferences/opted_into_offers", kind: boolean }
  ],
  ["billingname rechnungsname", { to: "/billing_name", kind: "text" }],
  ["billingemail invoiceemail rechnungsemail", { to: "/billing_email", kind: "email" }],
  [
    "customerreference customerref yourreference kundenreferenz",
    { to: "/billing_customer_reference", kind: "text" }
  ],
  [
    "address addressline address1 address2 address3 addressline1 addressline2 addressline3 " +
      "street streetname streetaddress strasse str anschrift adresse adresszusatz",
    { to: "/billing_address/street_address", kind: "text", isJoined: true }
  ],
  [
    "house housenumber houseno housenr housename hausnummer hausnr hnr",
    { to: "/billing_address/street_address", kind: "text", isJoined: true }
  ],
  [
    "town city locality county place ort stadt wohnort ortsteil",
    { to: "/billing_address/locality", kind: "text", isJoined: true }
  ],
  [
    "postcode postalcode zip zipcode plz postleitzahl",
    { to: "/billing_address/postal_code", kind: "text" }
  ],
  ["country countrycode land laendercode", { to: "/billing_address/country", kind: "country" }],
  [
    "company organisation organization firma",
    { to: "/billing_address/organization", kind: "text" }
  ],
  [
    "movein moveindate occupiedfrom supplystart supplystartdate supplyfrom einzug einzugsdatum " +
      "lieferbeginn belieferungsbeginn",
    { to: "/supply_addresses/0/customer_at_supply_address_from_date", kind: "date" }
  ],
  [
    "balance accountbalance transferbalance openingbalance closingbalance currentbalance " +
      "totalbalance balancetotal saldo kontosaldo kontostand guthaben saldogesamt gesamtsaldo",
    { to: "/transfer_balance", kind: "money" }
  ],
  [
    "amountowed amountdue balancedue balanceowed outstanding outstandingbalance arrears debt " +
      "debtbalance forderung offenerbetrag offeneposten rueckstand schuld",
    { to: "/transfer_balance", kind: "money", isDebt: true }
  ],
  [
    "electricitybalance elecbalance balanceelectricity balanceelec saldostrom stromsaldo",
    { to: "/ledgers/ELECTRICITY/last_statement_balance", kind: "money" }
  ],
  [
    "gasbalance balancegas saldogas gassaldo",
    { to: "/ledgers/GAS/last_statement_balance", kind: "money" }
  ],
  [
    "dateofsale saledate sold soldon salesdate contractdate signed signedon verkaufsdatum " +
      "vertragsdatum vertragsabschluss abschlussdatum",
    { to: "/date_of_sale", kind: "date" }
  ],
  [
    "unknownoccupier unoccupied vacant empty leerstand unbekannterbewohner",
    { to: "/unknown_occupier", kind: boolean }
  ],
  [
    "communicationpreference communication billformat billmedium correspondence rechnungsversand " +
      "versandart versandweg",
    { to: "/communication_preference", kind: communication }
  ],
  [
    "paperless paperlessbilling paperlessbill ebilling onlinebilling onlinerechnung",
    { to: "/communication_preference", kind: paperless }
  ],
  ["accessibility accessibleformat", { to: "/document_accessibility", kind: accessibility }],
  [
    "billingfrequency billfrequency billingperiod abrechnungsturnus turnus",
    { to: "/account_billing_options/period_length", kind: periods }
  ],
  [
    "billingday billday billonday abrechnungstag rechnungstag",
    { to: "/account_billing_options/period_start_day", kind: "integer" }
  ],
  ["teamname operationsteam", { to: "/operations_team_name", kind: "text" }],
  [
    "note notes remark remarks comment comments notiz notizen bemerkung bemerkungen kommentar",
    { to: "/notes/0/body", kind: "text" }
  ]
]

const byName = new Map(
  fields.flatMap(([names, field]) => names.split(" ").map((name) => [name, field] as const))
)

const umlauts = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" } as const

/** A name as it is compared. */
export const wordOf = (name: string): string =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[äöüß]/g, (letter) => umlauts[letter as keyof typeof umlauts])
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]/g, "")

const supplyPrefix =
  /^(?:supply|site|premises?|property|delivery|liefer(?:stellen?)?|verbrauchsstellen?)(?=.)/
const ownerPrefix = /^(?:account|customer|cust|contact|holder|billing|kunden?|kontakt|rechnungs)/
const secondCustomer = /^(?:customer|kunde)?(?:2nd|2|second|joint|partner|zweite[rs]?)|2$/
const firstCustomer = /^(?:customer|kunde)?(?:1st|1|first)|1$/

const supplyFields: Readonly<Record<string, Field>> = {
  "/billing_address/street_address": {
    to: "/supply_addresses/0/supply_address1",
    kind: "text",
    isJoined: true
  },
  "/billing_address/locality": {
    to: "/supply_addresses/0/supply_address1",
    kind: "text",
    isJoined: true
  },
  "/billing_address/postal_code": { to: "/supply_addresses/0/supply_postcode", kind: "text" }
}

const withoutPrefix = (word: string, prefix: RegExp): Field | null => {
  const rest = word.replace(prefix, "")
  return rest === word ? null : (byName.get(rest) ?? null)
}

/** The field of the second customer of a joint account. */
const ofSecond = (field: Field | null): Field | null =>
  field?.to.startsWith("/customers/0/") === true
    ? { ...field, to: field.to.replace("/0/", "/1/") }
    : null

/** The field that a column of this name probably is; null if the name is unknown. */
export const fieldNamed = (name: string): Field | null => {
  const word = wordOf(name)
  const exact = byName.get(word)
  if (exact !== undefined) return exact
  const supplied = withoutPrefix(word, supplyPrefix)
  if (supplied !== null && supplied.to in supplyFields) return supplyFields[supplied.to] ?? null
  return (
    ofSecond(withoutPrefix(word, secondCustomer)) ??
    withoutPrefix(word, firstCustomer) ??
    withoutPrefix(word, ownerPrefix)
  )
}
