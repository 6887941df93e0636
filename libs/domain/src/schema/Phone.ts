/**
 * Whether a phone number is a possible one, as the library of numbering plans says. The library
 * finds the country of a number by trying the patterns of all countries that share its calling
 * code; where they agree on its length, the answer does not depend on the country.
 */
import {
  type CountryCallingCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
  parsePhoneNumberFromString
} from "libphonenumber-js"

/** A calling code in every country that shares it. */
interface Plan {
  /** What the library may take off the number that follows the calling code. */
  readonly prefix: RegExp | undefined
  /** The possible lengths of that number, country by country. */
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

/** Calling codes that belong to no country are left to the library. */
const plans = new Map<string, Plan>()
for (const country of getCountries()) {
  const callingCode = getCountryCallingCode(country)
  const plan = plans.get(callingCode) ?? planOf(callingCode)
  plan.lengths.push(new Set(selected(country).possibleLengths()))
  plans.set(callingCode, plan)
}

const longestCallingCode = 3

/** No calling code begins with another one. */
const callingCodeOf = (digits: string): string | undefined => {
  for (let length = 1; length <= longestCallingCode; length++) {
    const callingCode = digits.slice(0, length)
    if (plans.has(callingCode)) return callingCode
  }
  return undefined
}

/** The library takes shorter and longer numbers for none at all. */
const shortest = 2
const longest = 17

const plainForm = /^\+[1-9][\d ().-]*$/

/** The answer where it depends on nothing but the length. */
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

/** For a number with a leading +. */
export const isPossiblePhone = (number: string): boolean =>
  isPossibleByLength(number) ??
  parsePhoneNumberFromString(number, { extract: false })?.isPossible() === true
