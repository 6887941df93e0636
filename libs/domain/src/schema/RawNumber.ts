/**
 * Numbers that keep their spelling because a double cannot hold them. `JSON.stringify` writes them
 * as they were spelled. TypeScript's library does not know them yet.
 * Source: https://tc39.es/proposal-json-parse-with-source/
 */

export interface RawNumber {
  readonly rawJSON: string
}

interface RawJson {
  readonly rawJSON: (text: string) => RawNumber
  /** Whether a parsed value is a number with its own spelling. */
  readonly isRawJSON: (value: unknown) => value is RawNumber
}

export const { isRawJSON: isRawNumber, rawJSON: rawNumber }: RawJson = JSON as unknown as RawJson
