/** The pending imports that an action applies to: those that match every member. */
import { Effect, Option, Result, Schema } from "effect"
import { ShortName } from "../batches/Batch.ts"
import type { SearchFilter } from "../migrations/ImportSearch.ts"
import { ValidationFailed } from "../requests/Failure.ts"
import { nonBlankText } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"

/** A selection as it was sent. */
export interface Selection {
  readonly state?: string
  readonly code?: string
  readonly cohort?: string
}

const cohort = Schema.decodeUnknownOption(ShortName)
const code = Schema.decodeUnknownOption(nonBlankText(128))

/** Only imports in these states can be processed or change their cohort. */
const state = Schema.decodeUnknownOption(Schema.Literals(["PENDING", "FAILED"]))

const details = {
  state: "Must be PENDING or FAILED.",
  code: "Must be a text of 1 to 128 characters.",
  cohort: "Must be a text of 1 to 64 characters."
}

const readSelection = (
  selection: Selection
): Result.Result<
  Pick<SearchFilter, "code"> & { readonly state?: "PENDING" | "FAILED"; readonly cohort?: string },
  ReadonlyArray<FieldError>
> => {
  const read = {
    state: state(selection.state),
    code: code(selection.code),
    cohort: cohort(selection.cohort)
  }
  const errors = (["state", "code", "cohort"] as const).flatMap((name): ReadonlyArray<FieldError> =>
    selection[name] === undefined || Option.isSome(read[name])
      ? []
      : [{ attr: name, code: "invalid", detail: details[name] }]
  )
  return errors.length > 0
    ? Result.fail(errors)
    : Result.succeed({
        ...(Option.isSome(read.state) && { state: read.state.value }),
        ...(Option.isSome(read.code) && { code: read.code.value }),
        ...(Option.isSome(read.cohort) && { cohort: read.cohort.value })
      })
}

export const invalid = (...errors: ReadonlyArray<FieldError>) =>
  new ValidationFailed({ code: "request_failed_validation", errors })

/** The filter of a valid selection. */
export const selected = (selection: Selection) =>
  Effect.mapError(Effect.fromResult(readSelection(selection)), (errors) => invalid(...errors))

/** As it was sent; a cohort that is null selects the imports without one. */
export interface MovedSelection extends Omit<Selection, "cohort"> {
  readonly cohort?: string | null
}

/** The filter of a valid selection of imports that change their cohort. */
export const selectedToMove = ({ cohort, ...others }: MovedSelection) =>
  cohort === null
    ? Effect.map(selected(others), (filter) => ({ ...filter, cohort }))
    : selected({ ...others, ...(cohort !== undefined && { cohort }) })
