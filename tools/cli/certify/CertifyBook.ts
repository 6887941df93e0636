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
import {
  type CertifiedBlock,
  type CertifiedPart,
  type CertifySettings,
  leafBytes
} from "./CertifiedBlock.ts"
import { hashing } from "./NodeHashing.ts"

export interface CertifyOptions extends CertifySettings {
  readonly book: OpenBook
  readonly threads: number
  readonly onProgress: (progress: Progress) => Effect.Effect<void>
}

/** How many places are kept of lines that fail. */
const examples = 5

/** As source and in the package, the thread's file is beside this one. */
const worker = new URL(`./CertifyWorker${extname(import.meta.filename)}`, import.meta.url)

/** Collects the accounts of blocks. Of lines that repeat each other exactly, one counts. */
class Collector {
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

  constructor({ added }: Pick<CertifyOptions, "added">) {
    this.withoutAccount = new Set(added.keys())
  }

  /** Adds the accounts of a block. Gives the lines with the number of an earlier line. */
  addAccounts({ csv, firstLine }: Block, block: CertifiedBlock): ReadonlySet<number> {
    const { counts } = this
    counts.lines += block.numbers.length
    counts.otherCohorts += block.otherCohorts
    counts.excepted += block.excepted
    const place = (at: number) => placeAt(firstLine + at, csv?.rows[at])
    const failed = new Set(block.failed)
    const repeating = new Set<number>()
    for (const [at, number] of block.numbers.entries()) {
      if (failed.has(at)) this.#fail(place(at))
      if (number === null) continue
      const leaf = block.leaves.subarray(at * leafBytes, (at + 1) * leafBytes)
      if (!this.#addAccount(number, leaf, place(at))) repeating.add(at)
    }
    return repeating
  }

  /** Adds what a block has apart from its accounts. */
  addSums({ documents, refused, sums }: CertifiedBlock): void {
    this.#sums.merge(sums)
    for (const path of documents) this.#documents.add(path)
    this.refused.push(...refused)
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

  #addAccount(number: string, leaf: Uint8Array, place: Place): boolean {
    const known = this.#repeated.count
    const content = Buffer.from(leaf.buffer, leaf.byteOffset).readUIntBE(0, 6)
    if (this.#repeated.add(number, place, content) !== null) this.#fail(place)
    else if (this.#repeated.count === known) this.counts.repeated++
    else {
      this.#tree.add(number, leaf)
      this.withoutAccount.delete(number)
      return true
    }
    return false
  }

  #fail(place: Place): void {
    this.counts.failed++
    if (this.failed.length < examples) this.failed.push(place)
  }
}

export const certifyBook = Effect.fnUntraced(function* (options: CertifyOptions) {
  const { added, book, cohort, except, onProgress, threads } = options
  const settings: CertifySettings = { settings: options.settings, cohort, except, added }
  const startedAt = yield* Clock.currentTimeMillis
  const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt)
  const pool = yield* makeWorkerPool(threads, {
    file: worker,
    settings,
    here: async () => (await import("./BlockCertification.ts")).blockCertification(settings)
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
        const without = collector.addAccounts(block, certified)
        const part: CertifiedPart = { ...block, bytes: certified.bytes, without }
        collector.addSums(without.size === 0 ? certified : yield* pool.run(part))
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
    supplier: options.settings.supplier,
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
