/** SHA-256 as FIPS 180-4 defines it, without the platform. */
import { Layer } from "effect"
import { Hashing } from "../../src/requests/Hashing.ts"

/** The first 32 bits of the fractional part. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0

const isPrime = (value: number): boolean => {
  for (let divisor = 2; divisor * divisor <= value; divisor++) {
    if (value % divisor === 0) return false
  }
  return true
}

const primes = Array.from({ length: 310 }, (_, index) => index + 2).filter(isPrime)

const constants = primes.slice(0, 64).map((prime) => fraction(Math.cbrt(prime)))
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const blockBytes = 64

/** The message with a one bit, zeros and its length in bits, in whole blocks. */
const padded = (bytes: Uint8Array): DataView => {
  const length = Math.ceil((bytes.length + 9) / blockBytes) * blockBytes
  const block = new Uint8Array(length)
  block.set(bytes)
  block[bytes.length] = 0x80
  const view = new DataView(block.buffer)
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n)
  return view
}

const scheduleOf = (message: DataView, start: number): ReadonlyArray<number> => {
  const words = Array.from({ length: 16 }, (_, index) => message.getInt32(start + 4 * index))
  const at = (index: number): number => words[index] as number
  for (let index = 16; index < 64; index++) {
    const early = at(index - 15)
    const late = at(index - 2)
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    words.push((at(index - 16) + small + at(index - 7) + large) | 0)
  }
  return words
}

type State = readonly [number, number, number, number, number, number, number, number]

const round = ([a, b, c, d, e, f, g, h]: State, word: number, constant: number): State => {
  const choice = (e & f) ^ (~e & g)
  const majority = (a & b) ^ (a & c) ^ (b & c)
  const one = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + constant + word) | 0
  const two = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0
  return [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g]
}

const wordsOf = (bytes: Uint8Array): ReadonlyArray<number> => {
  const message = padded(bytes)
  let state = initial as unknown as State
  for (let start = 0; start < message.byteLength; start += blockBytes) {
    const words = scheduleOf(message, start)
    const after = words.reduce(
      (before, word, index) => round(before, word, constants[index] as number),
      state
    )
    state = state.map((word, index) => (word + (after[index] as number)) | 0) as unknown as State
  }
  return state
}

const sha256 = (text: string): string =>
  wordsOf(new TextEncoder().encode(text))
    .map((word) => (word >>> 0).toString(16).padStart(8, "0"))
    .join("")

const digest = (bytes: Uint8Array): Uint8Array => {
  const view = new DataView(new ArrayBuffer(32))
  wordsOf(bytes).forEach((word, index) => view.setInt32(4 * index, word))
  return new Uint8Array(view.buffer)
}

export const layerMemory: Layer.Layer<Hashing> = Layer.succeed(Hashing, { sha256, digest })
