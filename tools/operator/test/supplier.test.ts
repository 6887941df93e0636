/** Suppliers: created, configured, listed, and what is refused. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { arrange, arrangeDeployed } from "./commandLine.ts"

const energy = {
  code: "ENERGY",
  organisation: "demo",
  status: "Ongoing",
  documentRoot: "ENERGY",
  documentCheck: true,
  customerEmails: false,
  concurrencyLimit: null,
  revertWindow: 14,
  fourEyes: false,
  timeZone: "UTC"
}

describe("supplier", () => {
  it.effect("is created Ongoing, with the code as document root and everything else off", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      expect(yield* json("supplier", "create", "ENERGY", "--organisation", "demo")).toEqual(energy)
      expect(yield* json("supplier", "list")).toEqual([energy])
    })
  )

  it.effect("takes its configuration", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      const flags = [
        ["--organisation", "demo", "--document-root", "/legacy/files"],
        ["--document-check", "off", "--customer-emails", "on", "--concurrency-limit", "4"],
        ["--time-zone", "europe/AMSTERDAM"]
      ].flat()
      expect(yield* json("supplier", "create", "ENERGY", ...flags)).toEqual({
        ...energy,
        documentRoot: "legacy/files",
        documentCheck: false,
        customerEmails: true,
        concurrencyLimit: 4,
        timeZone: "Europe/Amsterdam"
      })
    })
  )

  it.effect(
    "is refused where it exists, its organisation does not, or its settings are wrong",
    () =>
      Effect.gen(function* () {
        const { done, json, refused } = yield* arrange
        const create = (code: string, ...flags: ReadonlyArray<string>) => [
          "supplier",
          "create",
          code,
          "--organisation",
          "demo",
          ...flags
        ]
        yield* refused(create("ENERGY"), "There is no organisation demo")
        yield* done("organisation", "create", "demo")
        yield* refused(["supplier", "create", "ENERGY"], "--organisation")
        for (const code of ["", " ", ".", "..", "a\nb", "x".repeat(33)]) {
          yield* refused(create(code), "1 to 32 characters")
        }
        yield* refused(create("A/../B"), "give --document-root")
        yield* refused(create("ENERGY", "--document-root", "../other"), "relative path")
        yield* refused(create("ENERGY", "--document-check", "maybe"), "document-check")
        yield* refused(create("ENERGY", "--concurrency-limit", "0"), "whole number from 1")
        yield* refused(create("ENERGY", "--time-zone", "Europe/Atlantis"), "IANA name")
        expect(yield* json("supplier", "list")).toEqual([])
        yield* done(...create("ENERGY"))
        yield* refused(create("ENERGY"), "already a supplier ENERGY")
      })
  )

  it.effect("changes its settings, each by itself or several together", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo")
      const steps = [
        [["--time-zone", "Asia/Kolkata"], { timeZone: "Asia/Kolkata" }],
        [["--document-root", "/archive"], { documentRoot: "archive" }],
        [["--document-check", "off"], { documentCheck: false }],
        [["--customer-emails", "on"], { customerEmails: true }],
        [["--concurrency-limit", "4"], { concurrencyLimit: 4 }],
        [
          ["--concurrency-limit", "off", "--document-check", "on", "--time-zone", "Etc/UTC"],
          { concurrencyLimit: null, documentCheck: true, timeZone: "UTC" }
        ]
      ] as const
      let expected: object = energy
      for (const [flags, settings] of steps) {
        expected = { ...expected, ...settings }
        expect(yield* json("supplier", "set", "ENERGY", ...flags)).toEqual(expected)
        expect(yield* json("supplier", "list")).toEqual([expected])
      }
      expect(
        yield* done("supplier", "set", "ENERGY", "--time-zone=UTC", "--customer-emails=off")
      ).toBe("Set customerEmails, timeZone of the supplier ENERGY.")
      expect(yield* done("supplier", "list")).toMatch(
        /timeZone +revertWindow +fourEyes\n.* UTC +14 +off$/
      )
    })
  )

  it.effect("keeps its settings if one is invalid or none is given", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      const set = (...flags: ReadonlyArray<string>) => ["supplier", "set", "ENERGY", ...flags]
      yield* refused(set("--time-zone", "Europe/Berlin"), "There is no supplier ENERGY")
      yield* done("organisation", "create", "demo")
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo")
      yield* refused(set(), "at least one setting")
      for (const name of ["", " ", "Berlin", "+01:00", "UTC+1", "Europe/Berlin ", "../Berlin"]) {
        yield* refused(set(`--time-zone=${name}`), "IANA name of a time zone")
      }
      yield* refused(set("--customer-emails", "on", "--document-root", "../other"), "relative")
      yield* refused(set("--concurrency-limit", "0"), "whole number from 1")
      yield* refused(set("--organisation", "rival", "--document-check", "off"), "organisation")
      expect(yield* json("supplier", "list")).toEqual([energy])
    })
  )

  it.effect("has no document root that overlaps another organisation's", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      yield* done("organisation", "create", "demo")
      yield* done("organisation", "create", "rival")
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo")
      const ofRival = (code: string, ...flags: ReadonlyArray<string>) => [
        ...["supplier", "create", code, "--organisation", "rival"],
        ...flags
      ]
      for (const root of ["ENERGY", "/ENERGY", "ENERGY/sub"]) {
        const { length } = root.replace(/^\//, "")
        yield* refused(
          ofRival("THEIRS", "--document-root", root),
          `The document root ${root.slice(-length)} overlaps ENERGY, that of the supplier ENERGY ` +
            "of another organisation: give another --document-root."
        )
      }
      yield* refused(ofRival("ENERGY/sub"), "overlaps ENERGY")
      yield* done(...ofRival("ENERGY2"))
      const set = ["supplier", "set", "ENERGY2", "--customer-emails", "on"]
      yield* refused([...set, "--document-root", "ENERGY/sub"], "overlaps ENERGY")
      const theirs = { ...energy, code: "ENERGY2", organisation: "rival", documentRoot: "ENERGY2" }
      expect(yield* json("supplier", "list")).toEqual([energy, theirs])
      yield* done("supplier", "create", "ENERGY/sub", "--organisation", "demo")
    })
  )

  it.effect("changes its status; Complete only opens again with --reopen, and to Ongoing", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrangeDeployed
      const set = (...words: ReadonlyArray<string>) => [
        "supplier",
        "set-status",
        "ENERGY",
        ...words
      ]
      yield* refused(set("paused"), "There is no supplier ENERGY")
      yield* done("organisation", "create", "demo")
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo")
      const steps = [
        ["Paused"],
        ["Paused"],
        ["Ongoing"],
        ["Complete"],
        ["Complete"],
        ["Ongoing", "--reopen"]
      ] as const
      for (const [status, ...flags] of steps) {
        const words = [status.toUpperCase(), ...flags]
        expect(yield* json(...set(...words))).toEqual({ ...energy, status })
      }
      expect(yield* done(...set("complete"))).toBe("The supplier ENERGY is Complete.")
      yield* refused(set("ongoing"), "--reopen")
      yield* refused(set("paused", "--reopen"), "only to become Ongoing")
      yield* refused(set("closed"), "ongoing, paused, complete")
      expect(yield* json("supplier", "list")).toEqual([{ ...energy, status: "Complete" }])
    })
  )
})
