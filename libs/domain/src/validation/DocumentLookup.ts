/**
 * Looks up the documents of a request in the store, with limits: on concurrent lookups of a request
 * and of an organisation, and on the time of all together. No lookup starts once the client has
 * disconnected.
 * Source: docs/contract/values.md#documents-of-one-request.
 */
import type { FoundDocuments, StoredDocument } from "../account/StoredDocument.ts"
import { Duration, Effect, Option, Semaphore } from "effect"
import { type Documents, DocumentsUnavailable } from "../ports/Documents.ts"
import type { DocumentPath } from "../schema/DocumentPath.ts"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { Supplier } from "../organisation/Supplier.ts"
import { waiting } from "../requests/WorkBudget.ts"

/** The maximum concurrent lookups of a request. */
const ofOneRequest = 16

/** The maximum concurrent lookups of an organisation in this process. */
const ofOneOrganisation = 64

/** The time limit for all lookups of a request together. */
const deadline = Duration.seconds(5)

export interface LookupResult {
  readonly documents: FoundDocuments
  /** The paths without a file. */
  readonly missing: ReadonlySet<DocumentPath>
}

/**
 * Looks up paths below the supplier's root. It changes nothing, so it can be interrupted even if
 * its caller cannot.
 */
export type LookUp = (
  supplier: Supplier,
  paths: ReadonlySet<DocumentPath>
) => Effect.Effect<LookupResult, DocumentsUnavailable>

export const emptyLookup: LookupResult = { documents: new Map(), missing: new Set() }

/** A semaphore for each organisation with a running lookup. */
const makeSemaphores = () => {
  const held = new Map<
    OrganisationName,
    { readonly semaphore: Semaphore.Semaphore; users: number }
  >()
  const enter = (name: OrganisationName) => {
    const entry = held.get(name) ?? { semaphore: Semaphore.makeUnsafe(ofOneOrganisation), users: 0 }
    entry.users++
    held.set(name, entry)
    return entry
  }
  return <A, E>(
    name: OrganisationName,
    use: (semaphore: Semaphore.Semaphore) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> =>
    Effect.acquireUseRelease(
      Effect.sync(() => enter(name)),
      ({ semaphore }) => use(semaphore),
      (entry) => Effect.sync(() => void (--entry.users === 0 && held.delete(name)))
    )
}

export const makeLookUp = (store: Documents["Service"]): LookUp => {
  const withSemaphore = makeSemaphores()
  const orElse = () => Effect.fail(new DocumentsUnavailable({ cause: new Error("Too slow") }))

  return ({ documentRoot, organisation }, paths) => {
    if (paths.size === 0) return Effect.succeed(emptyLookup)
    const found = withSemaphore(organisation, (semaphore) => {
      const find = (path: DocumentPath) =>
        Effect.map(store.find(documentRoot, path), (document) => [path, document] as const)
      return Effect.forEach(paths, (path) => semaphore.withPermits(1)(find(path)), {
        concurrency: ofOneRequest
      })
    })
    return found.pipe(
      Effect.timeoutOrElse({ duration: deadline, orElse }),
      Effect.map(lookupResult),
      waiting,
      Effect.interruptible
    )
  }
}

const lookupResult = (
  found: ReadonlyArray<readonly [DocumentPath, Option.Option<StoredDocument>]>
): LookupResult => {
  const documents = new Map<DocumentPath, StoredDocument>()
  const missing = new Set<DocumentPath>()
  for (const [path, document] of found) {
    if (Option.isSome(document)) documents.set(path, document.value)
    else missing.add(path)
  }
  return { documents, missing }
}
