/**
 * Threads that check blocks, as many as there are cores unless told otherwise. The scope ends them.
 */
import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"
import type { Block } from "../book/Block.ts"
import type { CheckedBlock, WorkerSettings } from "./CheckedBlock.ts"

interface Waiting {
  readonly resolve: (checked: CheckedBlock) => void
  readonly reject: (error: Error) => void
}

/** A thread answers in the order of its requests. */
class Thread {
  readonly #worker: Worker
  readonly #waiting: Array<Waiting> = []
  #broken: Error | null = null

  constructor(settings: WorkerSettings) {
    // As source and in the package, the thread's file is beside this one.
    const file = new URL(`./CheckWorker${extname(import.meta.filename)}`, import.meta.url)
    this.#worker = new Worker(file, { workerData: settings })
    this.#worker.on("message", (checked: CheckedBlock) => this.#waiting.shift()?.resolve(checked))
    this.#worker.on("error", (error) => this.#break(error as Error))
    this.#worker.on("exit", () => this.#break(new Error("A thread of the check has ended")))
  }

  get load(): number {
    return this.#waiting.length
  }

  check(block: Block): Promise<CheckedBlock> {
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

export interface WorkerPool {
  /** How many blocks should be in progress so that no thread waits for the next. */
  readonly concurrency: number
  /** Dies if a thread does, so that no line is dropped silently. */
  readonly check: (block: Block) => Effect.Effect<CheckedBlock>
}

/** A thread takes a second to start, so that a small book is checked by one. */
class Pool {
  readonly #most: number
  readonly #settings: WorkerSettings
  readonly #threads: Array<Thread> = []

  constructor(most: number, settings: WorkerSettings) {
    this.#most = most
    this.#settings = settings
    this.#start()
  }

  check(block: Block): Promise<CheckedBlock> {
    const idlest = this.#threads.reduce((one, other) => (other.load < one.load ? other : one))
    const isBusy = idlest.load > 0 && this.#threads.length < this.#most
    return (isBusy ? this.#start() : idlest).check(block)
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }

  #start(): Thread {
    const thread = new Thread(this.#settings)
    this.#threads.push(thread)
    return thread
  }
}

export const makeWorkerPool = (
  threads: number,
  settings: WorkerSettings
): Effect.Effect<WorkerPool, never, Scope.Scope> => {
  const start = Effect.sync(() => new Pool(threads, settings))
  return Effect.map(
    Effect.acquireRelease(start, (pool) => Effect.promise(() => pool.end())),
    (pool) => ({
      concurrency: 2 * threads + 1,
      check: (block) => Effect.promise(() => pool.check(block))
    })
  )
}
