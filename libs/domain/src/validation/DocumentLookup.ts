/**
 * Looking up the documents of a request in the store, within bounds: so many at once for a request
 * and for an organisation, one deadline for all of them, and none any more once the client has gone
 * away.
 * Source: docs/contract/values.md#documents-of-one-request.
 */
import type { FoundDocuments, StoredDocument } from "../account/StoredDocument.ts"
import { Duration, Effect, Option, Semaphore } from "effect"
import { type Documents, DocumentsUnavailable } from "../ports/Documents.ts"
import type { DocumentPath } from "../schema/DocumentPath.ts"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { Supplier } from "../organisation/Supplier.ts"
import { waiting } from "../requests/WorkBudget.ts"

/** How many documents of one request are looked up at once. */
const ofOneRequest = 16

/** How many documents of all requests of an organisation are looked up at once, in this process. */
const ofOneOrganisation = 64

/** How long all look-ups of a request may take together. */
const deadline = Duration.seconds(5)

export interface LookupResult {
  readonly documents: FoundDocuments
  /** Where there is no file. */
  readonly missing: ReadonlySet<DocumentPath>
}

/**
 * Looks up paths in the supplier's part of the store. It can be interrupted where its caller
 * cannot, because it changes nothing.
 */
export type LookUp = (
  supplier: Supplier,
  paths: ReadonlySet<DocumentPath>
) => Effect.Effect<LookupResult, DocumentsUnavailable>

export const emptyLookup: LookupResult = { documents: new Map(), missing: new Set() }

/** A semaphore for each organisation that looks something up right now, and for no other. */
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
