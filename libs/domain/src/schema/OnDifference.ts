/**
 * What becomes of an item that is on the account with other content than is sent.
 * Source: docs/contract/post-import.md#differences.
 */
import { choice } from "./Field.ts"

export const onDifferenceValues = ["keep", "fail"] as const

export const OnDifference = choice(onDifferenceValues)
export type OnDifference = typeof OnDifference.Type
