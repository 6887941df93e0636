/**
 * Looks up the documents of a request in the store, with limits: on concurrent lookups of a request
 * and of an organisation, and on the total time. No lookup starts once the client has disconnected.
 * Found documents are cached, because the same account is validated, staged and processed in
 * sequence.
 * Source: docs/contract/values.md#documents-of-one-request.
 */
import type { FoundDocuments, StoredDocument } from "../accounts/StoredDocument.ts"
import { Cache, Context, Duration, Effect, Exit, Layer, Option } from "effect"
import * as DocumentMetrics from "./DocumentMetrics.ts"
import { Documents, DocumentsUnavailable } from "./Documents.ts"
import { type DocumentPath, mostDocuments } from "../schema/DocumentPath.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { waiting } from "../requests/WorkBudget.ts"
import * as KeyedSemaphores from "../support/KeyedSemaphores.ts"

/** The maximum concurrent lookups of a request. */
const ofOneRequest = 16

/** The maximum concurrent lookups of an organisation in this process. */
const ofOneOrganisation = 64

/** The time limit for all lookups of a request together. */
const deadline = Duration.seconds(5)

/** How long a found document stays cached. */
const rememberedFor = Duration.minutes(1)

/** The capacity of the cache: ten requests with the most documents. */
const mostRemembered = 10 * mostDocuments

export interface LookupResult {
  readonly documents: FoundDocuments
  /** The paths without a file. */
  readonly missing: ReadonlySet<DocumentPath>
}

/** The document lookups of this process, which share their cache and their limits. */
export class DocumentLookup extends Context.Service<
  DocumentLookup,
  {
    /**
     * Looks up paths below the supplier's root. It changes nothing, so it can be interrupted even
     * if its caller cannot.
     */
    readonly lookUp: (
      supplier: Supplier,
      paths: ReadonlySet<DocumentPath>
    ) => Effect.Effect<LookupResult, DocumentsUnavailable>
  }
>()("@data-import/domain/DocumentLookup") {}

export const emptyLookup: LookupResult = { documents: new Map(), missing: new Set() }

/** The cache key, as a new string: a substring of a body would keep the whole body in memory. */
const keyOf = (root: string, path: DocumentPath): string => JSON.stringify([root, path])

/** The outcome of a lookup, and its ordinal number among all that have begun. */
interface Finding {
  readonly exit: Exit.Exit<Option.Option<StoredDocument>, DocumentsUnavailable>
  readonly begun: number
}

const isFound = ({ exit }: Finding): boolean => Exit.isSuccess(exit) && Option.isSome(exit.value)

const lifeOf = (exit: Exit.Exit<Finding>): Duration.Duration =>
  Exit.isSuccess(exit) && isFound(exit.value) ? rememberedFor : Duration.zero

/**
 * Looks up a found document at most once a minute, and once for concurrent requests. Absence and
 * failures are not shared with other requests: the file may be uploaded at any time.
 */
const makeMemory = Effect.fnUntraced(function* (store: Documents["Service"]) {
  let begun = 0
  const ask = (key: string): Effect.Effect<Finding> =>
    Effect.suspend(() => {
      const [root, path] = JSON.parse(key) as [string, DocumentPath]
      const nth = ++begun
      return Effect.map(Effect.exit(store.find(root, path)), (exit) => ({ exit, begun: nth }))
    })
  const cache = yield* Cache.makeWith(ask, { capacity: mostRemembered, timeToLive: lifeOf })

  const find = (root: string, path: DocumentPath) =>
    Effect.suspend(() => {
      const before = begun
      return Effect.flatMap(Cache.get(cache, keyOf(root, path)), (finding) => {
        const isOfOther = finding.begun <= before
        return isOfOther && !isFound(finding) ? store.find(root, path) : finding.exit
      })
    })
  const remembered = (root: string, path: DocumentPath) =>
    Effect.map(
      Cache.getSuccess(cache, keyOf(root, path)),
      Option.flatMap(({ exit }) => Option.flatten(Exit.getSuccess(exit)))
    )
  return { find, remembered }
})

const make = Effect.gen(function* () {
  const { find, ...store } = yield* Documents
  const metrics = DocumentMetrics.make()
  const memory = yield* makeMemory({ ...store, find: metrics.measured(find) })
  /** The lookups of each organisation have a semaphore of their own. */
  const withSemaphore = KeyedSemaphores.make<OrganisationName>(ofOneOrganisation)
  const orElse = () => {
    const error = new DocumentsUnavailable({ cause: new Error("Too slow") })
    return Effect.andThen(metrics.gaveUp(deadline, error), Effect.fail(error))
  }

  const findAll = ({ documentRoot, organisation }: Supplier, paths: ReadonlyArray<DocumentPath>) =>
    withSemaphore(organisation, (semaphore) => {
      const find = (path: DocumentPath) =>
        Effect.map(memory.find(documentRoot, path), (document) => [path, document] as const)
      return Effect.forEach(paths, (path) => semaphore.withPermit(find(path)), {
        concurrency: ofOneRequest
      })
    }).pipe(Effect.timeoutOrElse({ duration: deadline, orElse }), waiting, Effect.interruptible)

  const lookUp = Effect.fnUntraced(function* (
    supplier: Supplier,
    paths: ReadonlySet<DocumentPath>
  ) {
    const documents = new Map<DocumentPath, StoredDocument>()
    const unknown: Array<DocumentPath> = []
    for (const path of paths) {
      const document = yield* memory.remembered(supplier.documentRoot, path)
      if (Option.isSome(document)) documents.set(path, document.value)
      else unknown.push(path)
    }
    yield* DocumentMetrics.remembered(documents.size)
    const missing = new Set<DocumentPath>()
    if (unknown.length === 0) return { documents, missing }
    for (const [path, document] of yield* findAll(supplier, unknown)) {
      if (Option.isSome(document)) documents.set(path, document.value)
      else missing.add(path)
    }
    return { documents, missing }
  })

  return DocumentLookup.of({ lookUp })
})

/** Needs the document store. Programs that are given this same layer share their lookups. */
export const layer = Layer.effect(DocumentLookup, make)
