/** Makes the tree and the sums of a whole book: threads make the entries, in one reading. */
import { extname } from "node:path"
import { Clock, Effect, Stream } from "effect"
import type { LocalCertificate } from "@data-import/domain/certificates/Certificate"
import { SumsBuilder } from "@data-import/domain/certificates/CertifiedSums"
import { LocalTree, type SortedTree } from "@data-import/domain/certificates/LocalTree"
import type { Block } from "../book/Block.ts"
import { cannotRead, emptyBook } from "../book/Book.ts"
import type { OpenBook } from "../book/BookFile.ts"
import { type Place, placeAt, RepeatedNumbers } from "../book/RepeatedNumbers.ts"
import type { Progress } from "../check/CheckBook.ts"
import { makeWorkerPool } from "../check/WorkerPool.ts"
import { type CertifiedBlock, type CertifiedLine, type CertifiedLines } from "./CertifiedBlock.ts"
import { type CertifySettings, leafBytes } from "./CertifiedBlock.ts"
import { hashing } from "./NodeHashing.ts"

export interface CertifyOptions extends CertifySettings {
  readonly book: OpenBook
  /** The numbers of accounts that are left out. */
  readonly except: ReadonlySet<string>
  readonly threads: number
  readonly onProgress: (progress: Progress) => Effect.Effect<void>
}

/** How many places are kept of lines that fail. */
const examples = 5

/** As source and in the package, the thread's file is beside this one. */
const worker = new URL(`./CertifyWorker${extname(import.meta.filename)}`, import.meta.url)

/** Collects the accounts of blocks. Of lines that repeat each other exactly, one counts. */
class Collector {
  readonly #except: ReadonlySet<string>
  readonly #tree = new LocalTree()
  readonly #sums = new SumsBuilder()
  readonly #documents = new Set<string>()
  readonly #repeated = new RepeatedNumbers()
  readonly counts = { lines: 0, failed: 0, repeated: 0, otherCohorts: 0, excepted: 0 }
  readonly failed: Array<Place> = []
  /** The places of additions that the service would refuse. */
  readonly refused: Array<string> = []
  /** The accounts that are not in the tree, and have additions. */
  readonly withoutAccount: Set<string>

  constructor({ added, except }: Pick<CertifyOptions, "added" | "except">) {
    this.#except = except
    this.withoutAccount = new Set(added.keys())
  }

  add({ csv, firstLine }: Pick<Block, "csv" | "firstLine">, block: CertifiedBlock): void {
    const lines = JSON.parse(block.lines) as CertifiedLines
    for (const [at, line] of lines.entries()) {
      this.counts.lines++
      const place = placeAt(firstLine + at, csv?.rows[at])
      if (line === null) this.#fail(place)
      else if (line === "other_cohort") this.counts.otherCohorts++
      else if (this.#except.has(line.number)) this.counts.excepted++
      else {
        const leaf = block.leaves.subarray(at * leafBytes, (at + 1) * leafBytes)
        this.#addAccount(line, leaf, place)
      }
    }
  }

  get tree(): SortedTree {
    return this.#tree.sorted()
  }

  placeOf(number: string): Place | undefined {
    return this.#repeated.placeOf(number)
  }

  certificate(): LocalCertificate {
    return {
      tree_size: this.#tree.size,
      root: Buffer.from(this.#tree.root(hashing)).toString("hex"),
      ...this.#sums.sums(),
      documents: { count: this.#documents.size }
    }
  }

  #addAccount(
    { documents, number, refused, sums }: CertifiedLine,
    leaf: Uint8Array,
    place: Place
  ): void {
    const known = this.#repeated.count
    const content = Buffer.from(leaf.buffer, leaf.byteOffset).readUIntBE(0, 6)
    if (this.#repeated.add(number, place, content) !== null) return this.#fail(place)
    if (this.#repeated.count === known) {
      this.counts.repeated++
      return
    }
    this.#tree.add(number, leaf)
    this.#sums.add(sums)
    for (const path of documents) this.#documents.add(path)
    this.refused.push(...refused)
    this.withoutAccount.delete(number)
  }

  #fail(place: Place): void {
    this.counts.failed++
    if (this.failed.length < examples) this.failed.push(place)
  }
}

export const certifyBook = Effect.fnUntraced(function* (options: CertifyOptions) {
  const { added, book, cohort, onProgress, settings, threads } = options
  const startedAt = yield* Clock.currentTimeMillis
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt)
  const pool = yield* makeWorkerPool<CertifiedBlock>(threads, {
    file: worker,
    settings: { settings, cohort, added } satisfies CertifySettings
  })
  const collector = new Collector(options)
  const { counts } = collector
  yield* Stream.fromAsyncIterable(book.blocks(), (error) => cannotRead(book.name, error)).pipe(
    Stream.mapEffect(
      (block) => Effect.map(pool.run(block), (certified) => [block, certified] as const),
      { concurrency: pool.concurrency }
    ),
    Stream.runForEach(
      Effect.fnUntraced(function* ([block, certified]) {
        collector.add(block, certified)
        yield* onProgress({
          lines: counts.lines,
          failed: counts.failed,
          bytesRead: book.read(),
          size: book.size,
          milliseconds: yield* elapsed
        })
      })
    )
  )
  if (counts.lines === 0) return yield* emptyBook(book.name)
  const certificate = collector.certificate()
  return {
    supplier: settings.supplier,
    cohort,
    ...counts,
    failedAt: collector.failed,
    refusedAdditions: collector.refused,
    withoutAccount: collector.withoutAccount.size,
    certificate,
    tree: collector.tree,
    placeOf: (number: string) => collector.placeOf(number),
    milliseconds: yield* elapsed
  }
}, Effect.scoped)

export type CertifyResult = Effect.Success<ReturnType<typeof certifyBook>>
