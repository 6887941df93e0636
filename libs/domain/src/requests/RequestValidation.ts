/**
 * Validates a request: looks up the supplier and the open code lists, applies the rules, and then
 * looks up the documents. The response lists all errors. A supplier of another organisation is
 * looked up too, and then reported as unknown.
 * Source: docs/contract/errors.md#unknown-suppliers, docs/contract/http.md#order-of-checks,
 * docs/contract/errors.md#number-of-errors.
 */
import type { FoundDocuments } from "../accounts/StoredDocument.ts"
import { DateTime, Effect, Option, Result } from "effect"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"
import { businessDay, utc } from "../suppliers/BusinessDay.ts"
import type { CodeLists } from "../schema/CodeLists.ts"
import { mostDocuments } from "../schema/DocumentPath.ts"
import { type DocumentLookup, emptyLookup } from "../documents/DocumentLookup.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { MigrationNotOngoing, type ValidationFailed, validationFailed } from "./Failure.ts"
import { namedSupplier } from "../suppliers/NamedSupplier.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { CalendarDate } from "../schema/Field.ts"
import { maxErrors } from "../schema/FieldErrors.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { Facts } from "../schema/Rules.ts"
import { inTimeSlices, type Steps } from "../support/Steps.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import type { Refusal, Validator } from "../schema/Validator.ts"

/** Interruptible, because nothing is stored yet. */
const computed = <A>(make: () => Steps<A>): Effect.Effect<A> =>
  Effect.interruptible(inTimeSlices(make))

/** The refusal, with the errors of the parameters before those of the body. */
const refusalOf = (
  code: ValidationFailed["code"],
  parameterErrors: ReadonlyArray<FieldError>,
  { errors, more }: Refusal
): ValidationFailed => validationFailed(code, [...parameterErrors, ...errors], more)

const nothingBroken: Refusal = { errors: [], more: false }

/** The result of validation, with the errors of the parameters. */
export const judged = <Body>(
  code: ValidationFailed["code"],
  parameterErrors: ReadonlyArray<FieldError>,
  validated: Result.Result<Body, Refusal>
): Result.Result<Body, ValidationFailed> => {
  if (Result.isFailure(validated)) {
    return Result.fail(refusalOf(code, parameterErrors, validated.failure))
  }
  return parameterErrors.length > 0
    ? Result.fail(refusalOf(code, parameterErrors, nothingBroken))
    : Result.succeed(validated.success)
}

/** The `payload` member of a body; undefined if it has none. */
export const payloadOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "payload" in body ? body.payload : undefined

/** The configuration that the validation of a request uses. */
export interface Configured {
  /** None if the request names no supplier of the caller's organisation. */
  readonly supplier: Option.Option<Supplier>
  readonly codeLists: CodeLists
}

/** A valid request: its value, the caller's supplier, and the time of validation. */
export interface ValidRequest<Body> {
  readonly body: Body
  readonly supplier: Supplier
  /** The configuration that validation used. */
  readonly configured: Configured
  /**
   * The document store's findings for the documents of the request; empty if they are not checked.
   */
  readonly documents: FoundDocuments
  readonly now: DateTime.Utc
  /** The supplier's business day at that time. */
  readonly today: CalendarDate
}

type Unavailable = StorageUnavailable | DocumentsUnavailable

export interface RequestValidator {
  /** `payload` is the part of the body that names the supplier. */
  readonly validate: <Body>(request: {
    readonly validator: Validator<Body>
    readonly caller: Caller
    readonly body: unknown
    readonly payload: unknown
    readonly code: ValidationFailed["code"]
    /** The errors of the parameters, which are reported before those of the body. */
    readonly parameterErrors?: ReadonlyArray<FieldError>
    /** The configuration, if it was looked up for this request before. */
    readonly configured?: Configured
  }) => Effect.Effect<ValidRequest<Body>, ValidationFailed | Unavailable>
}

export const makeRequestValidator = (
  configuration: Configuration["Service"],
  { lookUp }: DocumentLookup["Service"]
): RequestValidator => {
  const supplierOf = findOwnSupplier(configuration)

  /** Skips the lookup for a request that is refused for too many errors or documents. */
  const lookUpDocuments = Effect.fnUntraced(function* (
    supplier: Option.Option<Supplier>,
    { body, validator }: Parameters<RequestValidator["validate"]>[0],
    validated: Result.Result<unknown, Refusal>
  ) {
    const hasMaximumErrors =
      Result.isFailure(validated) && validated.failure.errors.length >= maxErrors
    if (hasMaximumErrors || Option.isNone(supplier) || !supplier.value.documentCheck) {
      return emptyLookup
    }
    const paths = yield* computed(() => validator.documentsNamed(body))
    return paths.size > mostDocuments ? emptyLookup : yield* lookUp(supplier.value, paths)
  })

  const lookUpConfigured = (caller: Caller, payload: unknown) =>
    Effect.all(
      {
        supplier: supplierOf(caller, namedSupplier(payload)),
        codeLists: configuration.codeLists
      },
      { concurrency: "unbounded" }
    )

  const validate: RequestValidator["validate"] = Effect.fnUntraced(function* (request) {
    const { body, caller, code, parameterErrors = [], payload, validator } = request
    const now = yield* DateTime.now
    const configured = request.configured ?? (yield* lookUpConfigured(caller, payload))
    const { codeLists, supplier } = configured
    const timeZone = Option.match(supplier, { onNone: () => utc, onSome: (of) => of.timeZone })
    const today = businessDay(now, timeZone)
    const facts: Facts = {
      now,
      today,
      codeLists,
      supplierExists: Option.isSome(supplier),
      missingDocuments: new Set()
    }
    const validate = (known: Facts) => computed(() => validator.validateInSteps(body, known))
    const validated = yield* validate(facts)
    const { documents, missing } = yield* lookUpDocuments(supplier, request, validated)
    const valid =
      missing.size === 0 ? validated : yield* validate({ ...facts, missingDocuments: missing })
    const value = yield* Effect.fromResult(judged(code, parameterErrors, valid))
    return {
      body: value,
      supplier: Option.getOrThrow(supplier),
      configured,
      documents,
      now,
      today
    }
  })

  return { validate }
}

/** Refuses a write to a supplier that is Paused or Complete. */
export const requireOngoing = (supplier: Supplier): Effect.Effect<void, MigrationNotOngoing> =>
  supplier.status === "Ongoing"
    ? Effect.void
    : Effect.fail(new MigrationNotOngoing({ status: supplier.status }))
