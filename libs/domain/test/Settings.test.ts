import { describe, expect, it } from "@effect/vitest"
import { Cause, Config, ConfigProvider, Duration, Effect, Exit, Option, Redacted } from "effect"
import * as Settings from "../src/support/Settings.ts"

const read = <A>(config: Config.Config<A>, env: Record<string, string> = {}) =>
  config.parse(ConfigProvider.fromEnv({ env }))

/** The failure that ends the start of a process. */
const refusal = (config: Config.Config<unknown>, value?: string) =>
  Effect.map(Effect.exit(read(config, value === undefined ? {} : { NAME: value })), (exit) =>
    Exit.isFailure(exit) ? Settings.explained(exit.cause) : "none"
  )

describe("a setting", () => {
  const size = Settings.integer("NAME", { minimum: 1, maximum: 50 })

  it.effect("is required, optional, or has a default", () =>
    Effect.gen(function* () {
      expect(yield* read(size.required, { NAME: "7" })).toBe(7)
      expect(yield* read(size.or(3), { NAME: "7" })).toBe(7)
      expect(yield* read(size.optional, { NAME: "7" })).toEqual(Option.some(7))
      for (const env of [{}, { NAME: "" }]) {
        expect(yield* read(size.or(3), env)).toBe(3)
        expect(yield* read(size.optional, env)).toEqual(Option.none())
      }
    })
  )

  it.effect("that is missing is reported with the allowed values", () =>
    Effect.gen(function* () {
      const sentence = "NAME is not set. It must be a whole number from 1 to 50."
      expect(yield* refusal(size.required)).toBe(sentence)
      expect(yield* refusal(size.required, "")).toBe(sentence)
    })
  )

  it.effect("that is invalid is reported with its value, whether it is required or not", () =>
    Effect.gen(function* () {
      const sentence = 'NAME is "51". It must be a whole number from 1 to 50.'
      const configs: ReadonlyArray<Config.Config<unknown>> = [
        size.required,
        size.optional,
        size.or(3)
      ]
      for (const config of configs) {
        expect(yield* refusal(config, "51")).toBe(sentence)
        expect(yield* refusal(Config.withDefault(config, 1), "51")).toBe(sentence)
        expect(yield* refusal(Config.all({ config }), "51")).toBe(sentence)
      }
    })
  )

  it.effect("is refused in one line of bounded length, whatever its value", () =>
    Effect.gen(function* () {
      for (const value of ["1\n2", "\u0000", "9".repeat(10_000), '"']) {
        const sentence = yield* refusal(size.required, value)
        expect(sentence).toMatch(/^NAME is ".*"\. It must be a whole number from 1 to 50\.$/)
        expect(sentence.length).toBeLessThan(200)
      }
    })
  )

  it.effect("fails with Effect's ConfigError", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(size.required))
      expect(error).toBeInstanceOf(Config.ConfigError)
      expect(String(error)).toContain("NAME is not set")
    })
  )
})

describe("any other failure", () => {
  it("is explained in full", () => {
    const cause = Cause.fail(new Error("no such folder"))
    expect(Settings.explained(cause)).toContain("no such folder")
  })
})

/** Texts that are allowed, with their values, and texts that are not. */
const kinds: ReadonlyArray<
  readonly [
    kind: string,
    config: Config.Config<unknown>,
    good: ReadonlyArray<readonly [string, unknown]>,
    bad: ReadonlyArray<string>
  ]
> = [
  [
    "integer",
    Settings.integer("NAME", { minimum: -1, maximum: 50 }).required,
    [
      ["-1", -1],
      ["0", 0],
      ["50", 50],
      ["007", 7]
    ],
    ["-2", "51", "1.5", "1e1", "0x1", " 1", "1 ", "one", "+1", "Infinity", "NaN", "9".repeat(400)]
  ],
  [
    "port",
    Settings.port("NAME").required,
    [
      ["0", 0],
      ["65535", 65_535]
    ],
    ["-1", "65536", "http"]
  ],
  [
    "duration",
    Settings.duration("NAME", { minimum: "100 millis", maximum: "1 hour" }).required,
    [
      ["100 millis", Duration.millis(100)],
      ["1 second", Duration.seconds(1)],
      ["60 minutes", Duration.hours(1)]
    ],
    ["99 millis", "0 seconds", "-1 seconds", "61 minutes", "Infinity", "-Infinity", "60", "1 eon"]
  ],
  [
    "boolean",
    Settings.boolean("NAME").required,
    [
      ["true", true],
      ["false", false]
    ],
    ["yes", "TRUE", "1"]
  ],
  [
    "word",
    Settings.oneOf("NAME", ["Info", "Warn"]).required,
    [
      ["info", "Info"],
      ["WARN", "Warn"]
    ],
    ["inf", "Info,Warn", "toString"]
  ],
  ["text", Settings.text("NAME").required, [["/a b/ü", "/a b/ü"]], ["a\nb", "\u0000", "a\u0085"]],
  [
    "URL",
    Settings.url("NAME", ["http:", "https:"]).required,
    [
      ["http://a:1/b", new URL("http://a:1/b")],
      ["https://[::1]", new URL("https://[::1]/")]
    ],
    ["a:1", "ftp://a", "http://", "//a", "http://u@a", "http://a?b", "http://a#b", "http://a b"]
  ]
]

describe.each(kinds)("a setting that is %s", (_kind, config, good, bad) => {
  it.effect.each(good)("takes %s", ([value, expected]) =>
    Effect.map(read(config, { NAME: value }), (read) => expect(read).toEqual(expected))
  )

  it.effect.each(bad)("refuses %j", (value) =>
    Effect.map(refusal(config, value), (sentence) =>
      expect(sentence).toMatch(/^NAME is ".*"\. It must be [^\n]+\.$/)
    )
  )
})

describe("a secret", () => {
  const key = Settings.secret("NAME", "a key", (value) => value.startsWith("key-"))

  it.effect("is redacted", () =>
    Effect.gen(function* () {
      const value = "key-hunter2"
      const redacted = yield* read(key.required, { NAME: value })
      expect(JSON.stringify(redacted)).not.toContain("hunter2")
      expect(Redacted.value(redacted)).toBe(value)
    })
  )

  it.effect("that is invalid is reported without its value", () =>
    Effect.map(refusal(key.required, "hunter2"), (sentence) =>
      expect(sentence).toBe("NAME is not valid. It must be a key.")
    )
  )

  it.effect("in a URL that must not have one is not shown", () =>
    Effect.gen(function* () {
      const plain = Settings.url("NAME", ["https:"])
      for (const value of ["https://user:hunter2@a", "ftp://hunter2@a", "https:u:hunter2@a@b"]) {
        const sentence = yield* refusal(plain.required, value)
        expect(sentence).toContain("NAME is")
        expect(sentence).not.toContain("hunter2")
      }
    })
  )
})
