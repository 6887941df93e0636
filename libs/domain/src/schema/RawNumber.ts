/**
 * Numbers that keep their spelling because a double cannot hold them, and JSON text with that
 * spelling. Node supports both since version 21; this module has a fallback for older versions.
 */

export interface RawNumber {
  readonly rawJSON: string
}

interface RawJson {
  readonly rawNumber: (text: string) => RawNumber
  /** Whether a parsed value is a number with its own spelling. */
  readonly isRawNumber: (value: unknown) => value is RawNumber
  /** The JSON text of a value, with raw numbers as they were spelled. */
  readonly stringify: (value: unknown) => string
}

/** The parts of `JSON` that depend on the version of Node. */
interface PlatformJson {
  readonly rawJSON?: RawJson["rawNumber"]
  readonly isRawJSON?: RawJson["isRawNumber"]
}

class SpelledNumber implements RawNumber {
  readonly rawJSON: string

  constructor(text: string) {
    this.rawJSON = text
  }

  /** Throws, because `JSON.stringify` would write another number. */
  toJSON(): never {
    throw new TypeError(
      "JSON.stringify of this version of Node cannot write a number of more than 15 digits " +
        "exactly; use `stringify` of @data-import/domain, or Node 21 or newer."
    )
  }
}

const isSpelledNumber = (value: unknown): value is RawNumber => value instanceof SpelledNumber

const write = (value: unknown): string => {
  if (isSpelledNumber(value)) return value.rawJSON
  if (Array.isArray(value)) {
    return `[${value.map((element) => (element === undefined ? "null" : write(element))).join()}]`
  }
  if (typeof value !== "object" || value === null || "toJSON" in value) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join()}}`
}

/** Raw numbers by the platform, or by the fallback. */
export const rawJsonOf = ({ isRawJSON, rawJSON }: PlatformJson): RawJson =>
  rawJSON !== undefined && isRawJSON !== undefined
    ? { rawNumber: rawJSON, isRawNumber: isRawJSON, stringify: (value) => JSON.stringify(value) }
    : {
        rawNumber: (text) => new SpelledNumber(text),
        isRawNumber: isSpelledNumber,
        stringify: write
      }

const { rawNumber: make, isRawNumber: isRaw, stringify: print } = rawJsonOf(JSON as PlatformJson)

export const rawNumber: RawJson["rawNumber"] = make
export const isRawNumber: RawJson["isRawNumber"] = isRaw
export const stringify: RawJson["stringify"] = print
