/**
 * The imports that a list shows and an action applies to: those that match every member. Lists,
 * counts and actions read a selection here, so that each means the same accounts.
 * Source: docs/contract/board.md#selections.
 */
import { Effect, Option, Result, Schema, Struct } from "effect"
import { ExternalAccountNumber } from "../accounts/Account.ts"
import { PendingSelection } from "../batches/Batch.ts"
import { ValidationFailed } from "../requests/Failure.ts"
import { nonBlankText } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"

/** A selection as it was sent. */
export interface Selection {
  /** Only imports in these states can be processed or change their cohort. */
  readonly state?: string
  readonly code?: string
  readonly attr?: string
  /** Null selects the imports without one. */
  readonly cohort?: string | null
  readonly search?: string
  /** Only imports that were staged again after they had failed. */
  readonly corrected?: true
  readonly numbers?: ReadonlyArray<string>
}

/** The most account numbers that a selection names. */
export const numbersAtOnce = 1_000

const longestPath = 1_024

const Selected = Schema.Struct({
  ...Struct.omit(PendingSelection.fields, ["failed"]),
  attr: Schema.optionalKey(nonBlankText(longestPath)),
  search: Schema.optionalKey(nonBlankText(128)),
  numbers: Schema.optionalKey(
    Schema.Array(ExternalAccountNumber).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(numbersAtOnce)
    )
  )
})
export type Selected = typeof Selected.Type

const decode = Schema.decodeUnknownOption(Selected)

const details = {
  state: "Must be PENDING or FAILED.",
  code: "Must be a text of 1 to 128 characters.",
  attr: `Must be a text of 1 to ${longestPath} characters.`,
  cohort: "Must be a text of 1 to 64 characters.",
  search: "Must be a text of 1 to 128 characters.",
  corrected: "Must be true.",
  numbers: `Must be 1 to ${numbersAtOnce} account numbers of 1 to 128 characters.`
}

const members = Object.keys(details) as ReadonlyArray<keyof typeof details>

const readSelection = (
  selection: Selection
): Result.Result<Selected, ReadonlyArray<FieldError>> => {
  const errors = members.flatMap((name): ReadonlyArray<FieldError> => {
    const value = selection[name]
    const isValid = value === undefined || Option.isSome(decode({ [name]: value }))
    return isValid ? [] : [{ attr: name, code: "invalid", detail: details[name] }]
  })
  return Result.fromOption(decode(selection), () => errors)
}

export const invalid = (...errors: ReadonlyArray<FieldError>) =>
  new ValidationFailed({ code: "request_failed_validation", errors })

/** The filter of a valid selection. */
export const selected = (selection: Selection) =>
  Effect.mapError(Effect.fromResult(readSelection(selection)), (errors) => invalid(...errors))

/** A valid cohort, or none. */
export const cohortNamed = (named: string | null) =>
  named === null
    ? Effect.succeed(null)
    : Effect.map(selected({ cohort: named }), ({ cohort }) => cohort ?? null)
