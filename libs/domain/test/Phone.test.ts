/** The check of phone numbers agrees with the library of numbering plans for every number. */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from "libphonenumber-js"
import { isPossiblePhone } from "../src/schema/Phone.ts"

const slow = { timeout: 60_000 }

const byLibrary = (number: string): boolean =>
  parsePhoneNumberFromString(number, { extract: false })?.isPossible() === true

const ofCountries = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))]

/** Codes without a country, half of a code, and invalid codes. */
const otherCodes = ["800", "870", "883", "888", "979", "999", "21", "0", ""]

/** Any number after the code, including one that looks like it has a trunk prefix. */
const national = fc
  .tuple(fc.constantFrom("", "0", "1", "8", "06", "3"), fc.stringMatching(/^\d{0,18}$/))
  .map(([prefix, digits]) => `${prefix}${digits}`)

const spelled = fc.constantFrom<(digits: string) => string>(
  (digits) => digits,
  (digits) => digits.replace(/(\d{2})/g, "$1 "),
  (digits) => digits.replace(/(\d{3})/g, "($1) ").trim(),
  (digits) => digits.replace(/(\d{2})(?=\d)/g, "$1-"),
  (digits) => digits.replace(/(\d{4})/g, "$1."),
  (digits) => digits.replace(/(\d{3})/g, "$1/"),
  (digits) => `${digits} x12`,
  (digits) => `${digits};ext=3`,
  (digits) => `${digits}#`,
  (digits) => `${digits}a`,
  (digits) => `+${digits}`,
  (digits) => digits.replace(/^\d/, "\u0664")
)

const numbersOf = (callingCode: string) =>
  fc.tuple(national, spelled).map(([digits, spell]) => `+${spell(`${callingCode}${digits}`)}`)

describe("the check whether a phone number is possible", () => {
  it("agrees with the library for any calling code", slow, () => {
    for (const callingCode of [...ofCountries, ...otherCodes]) {
      fc.assert(
        fc.property(numbersOf(callingCode), (number) => {
          expect(`${number} ${isPossiblePhone(number)}`).toBe(`${number} ${byLibrary(number)}`)
        }),
        { numRuns: 60 }
      )
    }
  })

  it("agrees with the library for every length after every calling code", slow, () => {
    const digits = "2345678923456789234"
    const differing: Array<string> = []
    const answers = new Map<string, Set<boolean>>()
    for (const callingCode of [...ofCountries, ...otherCodes]) {
      const seen = new Set<boolean>()
      for (let length = 0; length <= digits.length; length++) {
        for (const first of ["", "0", "1", "3", "5", "7", "8", "9"]) {
          const number = `+${callingCode}${first}${digits.slice(0, length)}`
          const isPossible = byLibrary(number)
          seen.add(isPossible)
          if (isPossiblePhone(number) !== isPossible) differing.push(number)
        }
      }
      answers.set(callingCode, seen)
    }
    expect(differing).toEqual([])
    expect(ofCountries.filter((callingCode) => answers.get(callingCode)?.size !== 2)).toEqual([])
  })
})
