/** Time zones by name, their business day, and the rules that depend on it. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Option, Result } from "effect"
import fc from "fast-check"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import { businessDay, TimeZone, timeZoneNamed, utc } from "../src/suppliers/BusinessDay.ts"
import { datedAccount, futureDateErrors } from "./datedAccount.ts"

describe("TimeZone", () => {
  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/BERLIN", "Europe/Berlin"],
    ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["Etc/GMT+5", "Etc/GMT+5"],
    ["UTC", "UTC"],
    ["utc", "UTC"],
    ["Etc/UTC", "UTC"],
    // Aliases for which Intl returns another name.
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["Europe/Kyiv", "Europe/Kyiv"],
    ["US/Eastern", "US/Eastern"]
  ])("accepts the name %s and normalises it to %s", (name, kept) => {
    expect(Option.getOrNull(timeZoneNamed(name))).toBe(kept)
  })

  it.each(["", " ", "Berlin", "Europe/Atlantis", "Europe/Berlin ", "+05:30", "-00:00", "GMT+5"])(
    "rejects the name %o",
    (name) => {
      expect(Option.isNone(timeZoneNamed(name))).toBe(true)
    }
  )

  it.each(["BST", "IST", "AST", "CET", "EST5EDT", "GMT", "Zulu", "GB", "Japan"])(
    "rejects the abbreviation %s, although the runtime knows it",
    (name) => {
      expect(Option.isNone(timeZoneNamed(name))).toBe(true)
    }
  )

  it("yields no business days for an unknown zone", () => {
    const zone = TimeZone.make("Europe/Atlantis")
    expect(() => businessDay(DateTime.makeUnsafe(0), zone)).toThrow("Europe/Atlantis")
  })
})

describe("businessDay", () => {
  it.each([
    ["UTC", "2026-03-29T00:00Z", "2026-03-28", "2026-03-29"],
    // The day of a change of the clock, and the day after it.
    ["Europe/Berlin", "2026-03-28T23:00Z", "2026-03-28", "2026-03-29"],
    ["Europe/Berlin", "2026-03-29T22:00Z", "2026-03-29", "2026-03-30"],
    ["America/New_York", "2026-11-02T05:00Z", "2026-11-01", "2026-11-02"],
    // A change of half an hour.
    ["Australia/Lord_Howe", "2026-04-05T13:30Z", "2026-04-05", "2026-04-06"],
    // A change at midnight: the day begins at 01:00, or its first hour is repeated.
    ["Africa/Cairo", "2026-04-23T22:00Z", "2026-04-23", "2026-04-24"],
    ["America/Havana", "2026-11-01T04:00Z", "2026-10-31", "2026-11-01"],
    ["Pacific/Kiritimati", "2026-03-28T10:00Z", "2026-03-28", "2026-03-29"],
    ["Pacific/Pago_Pago", "2026-03-29T11:00Z", "2026-03-28", "2026-03-29"],
    // A zone that once left a day out.
    ["Pacific/Apia", "2011-12-30T10:00Z", "2011-12-29", "2011-12-31"]
  ] as const)("changes in %s at %s", (name, first, before, day) => {
    const zone = TimeZone.make(name)
    const at = DateTime.makeUnsafe(first)
    expect(businessDay(DateTime.subtract(at, { milliseconds: 1 }), zone)).toBe(before)
    expect(businessDay(at, zone)).toBe(day)
  })

  it("returns the previous day again when the clock goes back over midnight", () => {
    const zone = TimeZone.make("America/St_Johns")
    const at = (time: string) => businessDay(DateTime.makeUnsafe(`2010-11-07T${time}Z`), zone)
    expect(at("02:30:59.999")).toBe("2010-11-07")
    expect(at("02:31:00")).toBe("2010-11-06")
  })

  it("agrees with Intl for any sequence of zones and instants", () => {
    const names = [...Intl.supportedValuesOf("timeZone"), "UTC", "Asia/Kolkata", "US/Eastern"]
    const zone = fc.constantFrom(...names.flatMap((name) => Option.toArray(timeZoneNamed(name))))
    const instant = fc.integer({ min: Date.UTC(1850, 0, 1), max: Date.UTC(2200, 0, 1) })
    // Close to each other, to test that the cache does not confuse them.
    const instants = fc
      .tuple(instant, fc.array(fc.integer({ min: -3_000, max: 3_000 }), { maxLength: 4 }))
      .map(([one, steps]) => [one, ...steps.map((step) => one + step)])
    fc.assert(
      fc.property(fc.array(zone, { minLength: 1, maxLength: 3 }), instants, (zones, times) => {
        for (const time of times) {
          for (const zone of zones) {
            expect(businessDay(DateTime.makeUnsafe(time), zone)).toBe(printed(time, zone))
          }
        }
      }),
      { numRuns: 500 }
    )
  })
})

const formatters = new Map<string, Intl.DateTimeFormat>()

/** The day, printed by a formatter of English dates. */
const printed = (time: number, timeZone: string): string => {
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat("en-GB", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit"
    })
  formatters.set(timeZone, formatter)
  return formatter.format(time).split("/").toReversed().join("-")
}

describe("an account payload", () => {
  const codesAt = (day: string, at: DateTime.Utc, zone?: TimeZone): ReadonlyArray<string> => {
    const result = validateUnknownAccount(datedAccount(day), at, zone)
    if (Result.isSuccess(result)) return []
    return result.failure.map(({ attr, code }) => `${attr} ${code}`)
  }

  it("is validated by the day in UTC if no time zone is given", () => {
    const midnight = DateTime.makeUnsafe("2026-03-29T00:00:00Z")
    const last = DateTime.makeUnsafe("2026-03-28T23:59:59.999Z")
    for (const zone of [undefined, utc]) {
      expect(codesAt("2026-03-29", last, zone)).toEqual(futureDateErrors)
      expect(codesAt("2026-03-29", midnight, zone)).toEqual([])
    }
  })
})
