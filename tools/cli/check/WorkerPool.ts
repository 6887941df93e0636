/**
 * Threads that work on blocks of a book, as many as there are cores unless told otherwise. The
 * scope ends them.
 */
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"
import { type Block, isFull } from "../book/Block.ts"

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** What a thread runs: its module, and the settings that it gets as `workerData`. */
interface ThreadWork {
  readonly file: URL
  readonly settings: unknown
}

/** What is done with a block, in a thread or in this process. */
export interface Work<Answer> extends ThreadWork {
  readonly here: () => Promise<(block: Block) => Effect.Effect<Answer>>
}

/** A thread answers in the order of its requests. */
class Thread<Answer> {
  readonly #worker: Worker
  readonly #waiting: Array<Waiting<Answer>> = []
  #broken: Error | null = null

  constructor({ file, settings }: ThreadWork) {
    this.#worker = new Worker(file, { workerData: settings })
    this.#worker.on("message", (answer: Answer) => this.#waiting.shift()?.resolve(answer))
    this.#worker.on("error", (error) => this.#break(error as Error))
    this.#worker.on("exit", () => this.#break(new Error("A thread has ended")))
  }

  get load(): number {
    return this.#waiting.length
  }

  run(block: Block): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== null) return reject(this.#broken)
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(block, [block.bytes.buffer])
    })
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }

  #break(error: Error): void {
    this.#broken ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

export interface WorkerPool<Answer> {
  /** How many blocks should be in progress so that no thread waits for the next. */
  readonly concurrency: number
  /** Dies if a thread does, so that no line is dropped silently. */
  readonly run: (block: Block) => Effect.Effect<Answer>
}

/** Threads start while all others are busy. */
class Pool<Answer> {
  readonly #most: number
  readonly #work: ThreadWork
  readonly #threads: Array<Thread<Answer>> = []

  constructor(most: number, work: ThreadWork) {
    this.#most = most
    this.#work = work
  }

  get isIdle(): boolean {
    return this.#threads.length === 0
  }

  run(block: Block): Promise<Answer> {
    const [idlest] = this.#threads.toSorted((one, other) => one.load - other.load)
    const isBusy = idlest === undefined || (idlest.load > 0 && this.#threads.length < this.#most)
    return (isBusy ? this.#start() : idlest).run(block)
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }

  #start(): Thread<Answer> {
    const thread = new Thread<Answer>(this.#work)
    this.#threads.push(thread)
    return thread
  }
}

export const makeWorkerPool = <Answer>(
  threads: number,
  work: Work<Answer>
): Effect.Effect<WorkerPool<Answer>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const open = Effect.sync(() => new Pool<Answer>(threads, work))
    const pool = yield* Effect.acquireRelease(open, (made) => Effect.promise(() => made.end()))
    const here = yield* Effect.cached(Effect.promise(work.here))
    return {
      concurrency: 2 * threads + 1,
      // A thread takes longer to start than a small book to be read.
      run: (block) =>
        pool.isIdle && !isFull(block)
          ? Effect.flatMap(here, (run) => run(block))
          : Effect.promise(() => pool.run(block))
    }
  })
