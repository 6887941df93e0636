/**
 * Names what differs in every run: ids, secrets, instants, days and ports. The same value has the
 * same name within an exchange, so that an answer that repeats an id still does. Names begin anew
 * with each exchange, so that one that differs does not change those after it.
 */

export interface Kind {
  readonly name: string
  readonly pattern: RegExp
}

/** In this order; a pattern that comes first takes its text from those after it. */
const kinds: ReadonlyArray<Kind> = [
  { name: "token", pattern: /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g },
  { name: "token id", pattern: /(?<="jti":")[\w.-]+(?=")/g },
  { name: "secret", pattern: /\b(?:sk_(?:live|test)_|key_|rt_|whsec_)[\w+/=-]+/g },
  { name: "sign-in", pattern: /(?<=\/sign-in\/)[\w-]{43}(?=\/)/g },
  { name: "csrf token", pattern: /(?<="csrf_token":")[\w-]{43}(?=")/g },
  { name: "public key", pattern: /(?<="x":")[\w-]{43}(?=")/g },
  { name: "certificate key", pattern: /(?<="kid":")[\w-]{43}(?=")/g },
  { name: "hash of a signed certificate", pattern: /(?<="jws_sha256":")[\da-f]{64}(?=")/g },
  { name: "key id", pattern: /\b\d{8}T\d{6}Z-[\da-f]{8}\b/g },
  { name: "signature", pattern: /(?<=\bsignature=)[\da-f]{64}\b/g },
  { name: "epoch", pattern: /(?<=\bexpires=|"(?:iat|exp|refreshExpiresIn)":)\d+/g },
  { name: "erased", pattern: /(?<=\berased:)[\da-f]{64}\b/g },
  { name: "uuid", pattern: /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi },
  { name: "number", pattern: /\bDEMO-\d{13}\b/g },
  { name: "account", pattern: /\bA-[\dA-F]{8}\b/g },
  // Of events that are written at once, either may be the first.
  { name: "position", pattern: /(?<="position":)\d+|(?<=Must be at most )\d+(?=, the position)/g },
  {
    name: "position",
    pattern: /(?<=, the position of the newest event\.","parameters":\{"limit":)\d+/g
  },
  { name: "build", pattern: /(?<=\/assets\/[a-z]+-)[\w-]{8}(?=\.)/g },
  { name: "address", pattern: /\b127\.\d+\.\d+\.\d+(?::\d+)?/g }
]

/** Of a payload with a number of the run. */
export const payloadHash: Kind = { name: "hash", pattern: /(?<="payload_hash":")[\da-f]{64}\b/g }

const instants = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g
/** Windows of reverts close at instants that are far from the day of the run. */
const closings = /(?<="(?:revertible_until|revert_until|closes_at)":")[^"]+/g
const days = /\b(\d{4}-\d\d-\d\d)\b/g

/** Days within this distance of the day of the run are named by it. */
const daysAround = 3
const dayMillis = 86_400_000

/** What differs in some parts only. */
export interface Differing {
  readonly others?: ReadonlyArray<Kind>
  /** Bodies are made for the day of the run, so every day in them differs. */
  readonly areBodiesOfToday?: boolean
}

export class Names {
  readonly #today: number
  readonly #texts: ReadonlyArray<readonly [text: string, name: string]>
  readonly #kinds: ReadonlyArray<Kind>
  readonly #areBodiesOfToday: boolean
  #known = new Map<string, string>()
  #counts = new Map<string, number>()

  /** `today` as `YYYY-MM-DD`, texts of the run with their names, and what else differs. */
  constructor(
    today: string,
    texts: ReadonlyArray<readonly [text: string, name: string]>,
    { areBodiesOfToday = false, others = [] }: Differing = {}
  ) {
    this.#areBodiesOfToday = areBodiesOfToday
    this.#today = Date.parse(today)
    this.#texts = texts
    this.#kinds = [...kinds, ...others]
  }

  /** Begins another exchange. */
  begin(): void {
    this.#known = new Map()
    this.#counts = new Map()
  }

  #nameOf(kind: string, value: string): string {
    const key = `${kind} ${value}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `<${kind} ${count}>`
    this.#known.set(key, name)
    return name
  }

  readonly #day = (text: string): string => {
    if (this.#areBodiesOfToday) return "<day>"
    const distance = Math.round((Date.parse(text) - this.#today) / dayMillis)
    if (!(Math.abs(distance) <= daysAround)) return text
    return distance === 0 ? "<today>" : `<today ${distance > 0 ? "+" : "-"} ${Math.abs(distance)}>`
  }

  /** The text with names for everything that differs. */
  named(text: string): string {
    const placed = this.#texts.reduce(
      (before, [found, name]) => before.replaceAll(found, name),
      text
    )
    const withNames = this.#kinds.reduce(
      (before, { name, pattern }) =>
        before.replaceAll(pattern, (found) => this.#nameOf(name, found)),
      placed
    )
    return withNames
      .replaceAll(closings, "<instant>")
      .replaceAll(instants, (found) => {
        const day = this.#day(found.slice(0, 10))
        return day.startsWith("<") ? "<instant>" : found
      })
      .replaceAll(days, this.#day)
  }
}
