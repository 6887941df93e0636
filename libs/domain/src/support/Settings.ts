/**
 * The settings of a process, read from its environment at the start. Every library reads its
 * settings through this module. A missing or invalid setting ends the start with one sentence: its
 * name, its value and what is allowed. An empty value counts as missing. The value of a secret is
 * never shown.
 */
import { Cause, Config, ConfigProvider, Duration, Effect, Option, Redacted } from "effect"

/** A setting. Its rule applies to every source. */
export interface Setting<A> {
  /** Fails if it is not set. */
  readonly required: Config.Config<A>
  /** None if it is not set. */
  readonly optional: Config.Config<Option.Option<A>>
  /** With a default value. */
  readonly or: (value: A) => Config.Config<A>
}

/** A missing or invalid setting. Its message is one line. */
class InvalidSetting extends Config.ConfigError {
  constructor(message: string) {
    super(new ConfigProvider.SourceError({ message }))
  }

  override get message(): string {
    return this.cause.message
  }
}

/**
 * Why a process does not start: one line for a missing or invalid setting, and the full cause of
 * any other failure.
 */
export const explained = (cause: Cause.Cause<unknown>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  return failure instanceof Config.ConfigError ? failure.message : Cause.pretty(cause)
}

const longestShown = 100

const quoted = (text: string): string =>
  JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text)

interface Rule<A> {
  /** Completes the sentence "It must be …". */
  readonly allowed: string
  /** Undefined for an invalid text. */
  readonly parse: (text: string) => A | undefined
  /** The part of an invalid text that may be shown; by default all of it. */
  readonly show?: (text: string) => string | null
  /** The reason why a hidden text is invalid, without revealing it. */
  readonly reason?: (text: string) => string | undefined
}

export const setting = <A>(
  name: string,
  { allowed, parse, reason, show = (text) => text }: Rule<A>
): Setting<A> => {
  const refuse = (what: string) =>
    Effect.fail(new InvalidSetting(`${name} ${what}. It must be ${allowed}.`))
  const optional = Config.mapEffect(Config.option(Config.String(name)), (text) => {
    if (Option.isNone(text)) return Effect.succeedNone
    const value = parse(text.value)
    if (value !== undefined) return Effect.succeedSome(value)
    const visible = show(text.value)
    if (visible !== null) return refuse(`is ${quoted(visible)}`)
    const why = reason?.(text.value)
    return refuse(why === undefined ? "is not valid" : `is not valid: ${why}`)
  })
  return {
    optional,
    required: Config.mapEffect(optional, (value) =>
      Option.isSome(value) ? Effect.succeed(value.value) : refuse("is not set")
    ),
    or: (fallback) => Config.map(optional, (value) => Option.getOrElse(value, () => fallback))
  }
}

interface Range<A> {
  readonly minimum: A
  readonly maximum: A
}

/** A whole number, both ends of the range included. */
export const integer = (name: string, { maximum, minimum }: Range<number>): Setting<number> =>
  setting(name, {
    allowed: `a whole number from ${minimum} to ${maximum}`,
    parse: (text) => {
      if (!/^-?\d+$/.test(text)) return undefined
      const value = Number(text)
      return value >= minimum && value <= maximum ? value : undefined
    }
  })

/** A port to listen on; 0 is any free one. */
export const port = (name: string): Setting<number> =>
  integer(name, { minimum: 0, maximum: 65_535 })

/** The ends of a range of durations, in words. */
type InWords = Extract<Duration.Input, `${number} ${string}`>

/** A duration such as `5 seconds`, both ends of the range included. */
export const duration = (
  name: string,
  { maximum, minimum }: Range<InWords>
): Setting<Duration.Duration> => {
  const [least, most] = [Duration.fromInputUnsafe(minimum), Duration.fromInputUnsafe(maximum)]
  return setting(name, {
    allowed: `a duration from ${minimum} to ${maximum}`,
    parse: (text) =>
      Duration.fromInput(text as InWords).pipe(
        Option.filter(Duration.between({ minimum: least, maximum: most })),
        Option.getOrUndefined
      )
  })
}

/** `LEASE`: how long an import or an idempotency key stays held after its process died. */
export const lease: Config.Config<Duration.Duration> = duration("LEASE", {
  minimum: "100 millis",
  maximum: "1 hour"
}).or(Duration.seconds(60))

/** One of these words, in upper or lower case. */
export const oneOf = <const Word extends string>(
  name: string,
  words: ReadonlyArray<Word>
): Setting<Word> =>
  setting(name, {
    allowed: `one of ${words.join(", ")}`,
    parse: (text) => words.find((word) => word.toLowerCase() === text.toLowerCase())
  })

/** `true` or `false`. */
export const boolean = (name: string): Setting<boolean> =>
  setting(name, {
    allowed: "true or false",
    parse: (text) => (text === "true" ? true : text === "false" ? false : undefined)
  })

/** Any text without control characters. */
export const text = (name: string): Setting<string> =>
  setting(name, {
    allowed: "a text without control characters",
    parse: (value) => (/\p{Cc}/u.test(value) ? undefined : value)
  })

const words = (protocols: ReadonlyArray<string>): string =>
  protocols.map((protocol) => `${protocol}//…`).join(" or ")

const parseUrl = (value: string, protocols: ReadonlyArray<string>): URL | undefined => {
  const url = URL.parse(value)
  return url !== null && protocols.includes(url.protocol) ? url : undefined
}

/**
 * A URL with one of these protocols, such as `https:`, without user, password, query or fragment.
 */
export const url = (name: string, protocols: ReadonlyArray<string>): Setting<URL> =>
  setting(name, {
    allowed: `a URL like ${words(protocols)} without a user, password, query or fragment`,
    parse: (value) => {
      const parsed = parseUrl(value, protocols)
      if (parsed === undefined) return undefined
      const { hash, password, search, username } = parsed
      return [hash, password, search, username].every((part) => part === "") ? parsed : undefined
    },
    show: (value) => value.replace(/^.*@/s, "…@")
  })

/** A text that is not shown. `allowed` describes what `isAllowed` accepts. */
export const secret = (
  name: string,
  allowed: string,
  isAllowed: (value: string) => boolean
): Setting<Redacted.Redacted> =>
  setting(name, {
    allowed,
    parse: (value) => (isAllowed(value) ? Redacted.make(value) : undefined),
    show: () => null
  })
