/**
 * Validates an unknown body. Decodes it by the schema, applies the rules, also to the valid parts
 * of an invalid body, and reports the errors in payload order.
 * Source: docs/contract/errors.md#where-errors-point, docs/contract/errors.md#order-of-errors,
 * docs/contract/errors.md#number-of-errors.
 */
import { Result, type Schema } from "effect"
import { type DocumentPath, documentsIn } from "./DocumentPath.ts"
import type { FieldError } from "./FieldErrors.ts"
import { FieldErrors } from "./FieldErrors.ts"
import { decodePartiallyInSteps } from "./PartialDecoding.ts"
import { inPayloadOrder } from "./PayloadOrder.ts"
import { decoderOfTree } from "./Decoder.ts"
import { invalid } from "./LeafDecoder.ts"
import {
  applyRulesInSteps,
  type CompiledRules,
  compileRules,
  type Facts,
  type RuleSet,
  wholePayload
} from "./Rules.ts"
import type { Path } from "./Json.ts"
import { schemaTreeOf } from "./SchemaTree.ts"
import { finish, type Steps } from "../support/Steps.ts"

/** The errors in payload order: all of them, or the first ones if there are more. */
export interface Refusal {
  readonly errors: ReadonlyArray<FieldError>
  /** Whether there are more errors than are listed. */
  readonly more: boolean
}

export interface Validator<A> {
  /** Validates without a pause; fails with the listed errors. */
  readonly validate: (input: unknown, facts: Facts) => Result.Result<A, ReadonlyArray<FieldError>>
  /** In steps, for bodies of any size. */
  readonly validateInSteps: (input: unknown, facts: Facts) => Steps<Result.Result<A, Refusal>>
  /** The documents that a body names, even in an invalid body; see `documentsIn`. */
  readonly documentsNamed: (input: unknown) => Steps<ReadonlySet<DocumentPath>>
}

interface Options<Body, Wrapper extends keyof Body | null> {
  readonly schema: Schema.Codec<Body, unknown>
  readonly rules: RuleSet<NoInfer<Wrapper extends keyof Body ? Body[Wrapper] : Body>>
  /** The field of the body that contains the payload. It is not part of an `attr`. */
  readonly wrapper: Wrapper
}

/**
 * Makes the validator of one kind of body. With a `wrapper`, the rules apply to the payload in it.
 */
export const validator = <Body, const Wrapper extends (keyof Body & string) | null>(
  options: Options<Body, Wrapper>
): Validator<Body> => {
  const { rules, schema, wrapper } = options
  const tree = schemaTreeOf(schema)
  // Most bodies are small and valid, and decoding without looking for errors is faster.
  const decode = decoderOfTree(tree)
  const root: Path = wrapper === null ? [] : [wrapper]
  const ofPayload = compileRules(rules)
  const ofBody: CompiledRules =
    wrapper === null ? ofPayload : { rules: [], members: [[wrapper, ofPayload]] }

  function* validateInSteps(input: unknown, facts: Facts): Steps<Result.Result<Body, Refusal>> {
    const fieldErrors = new FieldErrors()
    const decoded = decode(input)
    const body =
      decoded === invalid ? yield* decodePartiallyInSteps(tree, input, fieldErrors) : decoded
    if (body !== invalid) yield* applyRulesInSteps(ofBody, body, facts, root, fieldErrors)
    const { areMore: more, listed } = fieldErrors
    if (listed.length === 0) return Result.succeed(body as Body)
    const ordered = yield* inPayloadOrder(tree, input, listed, root)
    const errors = ordered.map(({ path, ...broken }) => {
      // If the body is not an object, the error is at the payload.
      const at = path.length === 0 ? root : path
      return { attr: attrOf(at, root), ...broken }
    })
    return Result.fail({ errors, more })
  }

  return {
    documentsNamed: documentsIn(tree),
    validateInSteps,
    validate: (input, facts) =>
      Result.mapError(finish(validateInSteps(input, facts)), ({ errors }) => errors)
  }
}

/** A key of a free object may be as long as a body and be part of many paths. */
const longestSegment = 256
/** Long keys are possible at every level. No documented path is as long. */
const longestParent = 512

const shortened = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text

const attrOf = (path: Path, root: Path): string => {
  if (path.length === 0) return wholePayload
  const isInPayload = path.length > root.length && root.every((name, depth) => path[depth] === name)
  const inside = path.slice(isInPayload ? root.length : 0)
  const segments = inside.slice(0, -1).map((segment) => shortened(String(segment), longestSegment))
  const last = String(inside.at(-1))
  return segments.length === 0 ? last : `${shortened(segments.join("."), longestParent)}.${last}`
}
