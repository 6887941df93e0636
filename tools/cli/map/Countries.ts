/** Codes of countries by their names in English and German. */
import { isCountryCode } from "@data-import/domain/schema/Country"
import { wordOf } from "./Synonyms.ts"

const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
const codes = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter(isCountryCode)

const own = [
  ["uk", "GB"],
  ["england", "GB"],
  ["scotland", "GB"],
  ["wales", "GB"],
  ["usa", "US"],
  ["d", "DE"],
  ["brd", "DE"]
] as const

/** Made when it is needed: it asks for some hundred names. */
export const countryNames = (): ReadonlyMap<string, string> => {
  const names = ["en", "de"].map((language) => new Intl.DisplayNames(language, { type: "region" }))
  const named = codes.flatMap((code) =>
    names.map((by) => [wordOf(by.of(code) ?? code), code] as const)
  )
  return new Map([...named, ...own])
}
