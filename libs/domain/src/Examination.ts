/**
 * Examining a request of a caller: looks up all that the rules may know (the supplier, the open
 * choices, the documents), then applies them, so that every fault comes in one answer. A supplier
 * of another organisation is looked up and then treated exactly like one that does not exist.
 * Source: decisions, "Errors" and "Order of checks".
 */
import { DateTime, Effect, Option, Result } from "effect"
import type { Documents, DocumentsUnavailable, StoredDocument } from "../ports/Documents.ts"
import type { OperatorSetup } from "../ports/OperatorSetup.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { SupplierCodeField } from "./Account.ts"
import type { FoundDocuments } from "./AccountChange.ts"
import { businessDay, utc } from "./BusinessDay.ts"
import { DocumentPath, relativePath } from "./Document.ts"
import { MigrationNotOngoing, ValidationFailed } from "./Failure.ts"
import type { CalendarDate } from "./Field.ts"
import type { Facts } from "./Rules.ts"
import { type Shape, shapeOf, walk } from "./Shape.ts"
import type { Supplier } from "./Supplier.ts"
import type { Caller } from "./Organisation.ts"
import type { Validator } from "./Validation.ts"

/** How many documents of one request are looked up at once. */
const documentLookups = 16

const supplierCodeShape = shapeOf(SupplierCodeField)

/** The supplier that a payload names, if what it names can be a supplier at all. */
const namedSupplier = (payload: unknown): Option.Option<Supplier["code"]> => {
  if (typeof payload !== "object" || payload === null) return Option.none()
  const named = "import_supplier" in payload ? payload.import_supplier : undefined
  if (supplierCodeShape._tag !== "Leaf") return Option.none()
  return Result.getSuccess(supplierCodeShape.decode(named)) as Option.Option<Supplier["code"]>
}

/** The documents that a body names with clean paths, each once and without a leading slash. */
const namedDocuments = (shape: Shape, body: unknown): ReadonlyArray<DocumentPath> => {
  const paths = new Set<DocumentPath>()
  walk(shape, body, (at, value) => {
    if (at._tag !== "Leaf" || !isDocumentPath(at)) return
    const path = at.decode(value)
    if (Result.isSuccess(path)) paths.add(relativePath(path.success as DocumentPath))
  })
  return [...paths]
}

const isDocumentPath = (leaf: Shape): boolean =>
  leaf._tag === "Leaf" && leaf.schema === DocumentPath

/**
 * What a valid request is examined to: its value, the caller's supplier, and the time it is judged
 * at.
 */
export interface Examined<Body> {
  readonly body: Body
  readonly supplier: Supplier
  /**
   * What the store said of the documents that the request names; none where they are not checked.
   */
  readonly documents: FoundDocuments
  readonly now: DateTime.Utc
  /** The supplier's business day at that time. */
  readonly today: CalendarDate
}

type Unavailable = StorageUnavailable | DocumentsUnavailable

export interface Examiner {
  /** The supplier of this code, if it is the caller's. */
  readonly supplierOf: (
    caller: Caller,
    code: Option.Option<Supplier["code"]>
  ) => Effect.Effect<Option.Option<Supplier>, StorageUnavailable>

  /** `payload` is the part of the body that names the supplier. */
  readonly examine: <Body>(request: {
    readonly validator: Validator<Body>
    readonly caller: Caller
    readonly body: unknown
    readonly payload: unknown
    readonly code: ValidationFailed["code"]
  }) => Effect.Effect<Examined<Body>, ValidationFailed | Unavailable>
}

export const makeExaminer = (
  setup: OperatorSetup["Service"],
  store: Documents["Service"]
): Examiner => {
  const supplierOf: Examiner["supplierOf"] = (caller, code) =>
    Option.match(code, {
      onNone: () => Effect.succeedNone,
      onSome: (named) =>
        Effect.map(
          setup.supplier(named),
          Option.filter(({ organisation }) => organisation === caller.organisation)
        )
    })

  const lookUp = Effect.fnUntraced(function* (supplier: Supplier, shape: Shape, body: unknown) {
    if (!supplier.documentCheck) return { documents: new Map(), missing: new Set<string>() }
    const paths = namedDocuments(shape, body)
    const found = yield* Effect.forEach(paths, (path) => store.find(supplier.documentRoot, path), {
      concurrency: documentLookups
    })
    const documentsFound = new Map<string, StoredDocument>()
    const missing = new Set<string>()
    paths.forEach((path, index) =>
      Option.match(found[index] ?? Option.none(), {
        onNone: () => missing.add(path),
        onSome: (document) => documentsFound.set(path, document)
      })
    )
    return { documents: documentsFound, missing }
  })

  const examine: Examiner["examine"] = Effect.fnUntraced(function* (request) {
    const { body, caller, code, payload, validator } = request
    const now = yield* DateTime.now
    const [supplier, choices] = yield* Effect.all(
      [supplierOf(caller, namedSupplier(payload)), setup.choices],
      { concurrency: "unbounded" }
    )
    const looked = Option.isSome(supplier)
      ? yield* lookUp(supplier.value, validator.shape, body)
      : { documents: new Map(), missing: new Set<string>() }
    const timeZone = Option.match(supplier, { onNone: () => utc, onSome: (of) => of.timeZone })
    const today = businessDay(now, timeZone)
    const facts: Facts = {
      now,
      today,
      choices,
      supplierExists: Option.isSome(supplier),
      missingDocuments: looked.missing
    }
    const valid = validator.validate(body, facts)
    if (Result.isFailure(valid)) {
      return yield* new ValidationFailed({ code, errors: valid.failure })
    }
    const { documents } = looked
    return { body: valid.success, supplier: Option.getOrThrow(supplier), documents, now, today }
  })

  return { supplierOf, examine }
}

/** Refuses what a supplier that is Paused or Complete does not take. */
export const requireOngoing = (supplier: Supplier): Effect.Effect<void, MigrationNotOngoing> =>
  supplier.status === "Ongoing"
    ? Effect.void
    : Effect.fail(new MigrationNotOngoing({ status: supplier.status }))
