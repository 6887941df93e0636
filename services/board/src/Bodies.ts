/** The bodies of requests to the board. */
import { DateTime, Effect, Result, type Schema } from "effect"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import { ValidationFailed } from "@data-import/domain/requests/Failure"
import { validator } from "@data-import/domain/schema/Validator"

/** Decodes a body by its schema and rules; every invalid field is reported. */
export const bodyOf = <Body>(
  schema: Schema.Codec<Body, unknown>,
  rules: Parameters<typeof validator<Body, null>>[0]["rules"] = { rules: [] }
) => {
  const { validate } = validator({ schema, rules, wrapper: null })
  return Effect.fnUntraced(function* ({ body }: { readonly body: unknown }) {
    const read = validate(body, factsAt(yield* DateTime.now))
    const code = "request_failed_validation"
    return Result.isSuccess(read)
      ? read.success
      : yield* new ValidationFailed({ code, errors: read.failure })
  })
}
