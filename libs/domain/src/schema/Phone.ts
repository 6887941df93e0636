/**
 * Whether a phone number is possible according to the library of numbering plans. The library tries
 * the patterns of all countries with the same calling code. If these countries agree on the length,
 * the answer does not depend on the country.
 */
import {
  type CountryCallingCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  parsePhoneNumberFromString,
  validatePhoneNumberLength
} from "libphonenumber-js"

/** A calling code with the countries that share it. */
interface Plan {
  /** A prefix that the library may remove after the calling code. */
  readonly prefix: RegExp | undefined
  /** The possible lengths of the number, by country. */
  readonly lengths: Array<ReadonlySet<number>>
}

type Selected = NonNullable<Metadata["numberingPlan"]> & {
  readonly nationalPrefixForParsing: () => string | undefined
}

const selected = (countryOrCallingCode: string): Selected => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(countryOrCallingCode as never)
  return metadata.numberingPlan as Selected
}

const planOf = (callingCode: CountryCallingCode): Plan => {
  const prefix = selected(callingCode).nationalPrefixForParsing()
  return { prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined, lengths: [] }
}

/** Calling codes without a country are left to the library. */
const plans = new Map<string, Plan>()
for (const country of getCountries()) {
  const callingCode = getCountryCallingCode(country)
  const plan = plans.get(callingCode) ?? planOf(callingCode)
  plan.lengths.push(new Set(selected(country).possibleLengths()))
  plans.set(callingCode, plan)
}

const longestCallingCode = 3

/** No calling code is a prefix of another one. */
const callingCodeOf = (digits: string): string | undefined => {
  for (let length = 1; length <= longestCallingCode; length++) {
    const callingCode = digits.slice(0, length)
    if (plans.has(callingCode)) return callingCode
  }
  return undefined
}

/** The library rejects shorter numbers. */
const shortest = 2
const longest = 17

const plainForm = /^\+[1-9][\d ().-]*$/

/** The answer if it depends only on the length; undefined otherwise. */
const isPossibleByLength = (number: string): boolean | undefined => {
  if (!plainForm.test(number)) return undefined
  const digits = number.replace(/\D+/g, "")
  const callingCode = callingCodeOf(digits)
  const plan = callingCode === undefined ? undefined : plans.get(callingCode)
  if (callingCode === undefined || plan === undefined) return undefined
  const national = digits.slice(callingCode.length)
  if (plan.prefix?.test(national) === true) return undefined
  if (national.length < shortest || national.length > longest) return false
  const countries = plan.lengths.filter((lengths) => lengths.has(national.length))
  if (countries.length === 0) return false
  return countries.length === plan.lengths.length ? true : undefined
}

/** Long enough for every spelling of a number, and short enough for a quick check. */
const longestSpelling = 64

export const isPossiblePhone = (number: string): boolean =>
  number.startsWith("+") &&
  number.length <= longestSpelling &&
  (isPossibleByLength(number) ??
    parsePhoneNumberFromString(number, { extract: false })?.isPossible() === true)

/** Whether it is the code of a country with a numbering plan, like GB. */
export const isPhoneCountry = isSupportedCountry

const nationalForm = /^[\d\s()./-]+$/

/**
 * A number of a country as people there write it, with its calling code. A number that has one is
 * unchanged. Null if it is no possible number of the country, or has anything beside it.
 */
export const internationalPhone = (text: string, country: string | undefined): string | null => {
  if (text.startsWith("+")) return text
  if (country === undefined || !isPhoneCountry(country) || !nationalForm.test(text)) return null
  const parsed = parsePhoneNumberFromString(text, { defaultCountry: country, extract: false })
  return parsed?.isPossible() === true ? parsed.number : null
}

/** Why a number is not possible, each with its explanation. */
export const phoneFaults = {
  no_plus: "it needs a leading + and the country's calling code",
  foreign_characters: "it has characters other than digits, spaces, ( ) . and -",
  unknown_country: "no country has this calling code",
  too_short: "it has too few digits for its country",
  too_long: "it has too many digits for its country",
  impossible: "its country has no numbers of this length"
} as const
export type PhoneFault = keyof typeof phoneFaults

/** Only a number that is not possible has a fault. */
export const phoneFault = (number: string): PhoneFault => {
  if (!number.startsWith("+")) return "no_plus"
  if (!/^\+[\d ().-]*$/.test(number)) return "foreign_characters"
  if (number.length > longestSpelling) return "too_long"
  switch (validatePhoneNumberLength(number)) {
    case "INVALID_COUNTRY":
      return "unknown_country"
    case "TOO_SHORT":
    case "NOT_A_NUMBER":
      return "too_short"
    case "TOO_LONG":
      return "too_long"
    default:
      return "impossible"
  }
}
