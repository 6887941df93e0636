/**
 * A run of cases, several at a time. Every answer is checked. A case that the service cannot answer
 * now is retried once after all others, with another mark, so that data stored the first time does
 * not matter.
 */
import { setTimeout } from "node:timers/promises"
import { DateTime } from "effect"
import { recordCoverage } from "@data-import/api/testing/ContractCoverage"
import { type Case, caseOf, type Kind, type Reply, type Request, type Step } from "./Case.ts"
import { type Day, dayOf } from "./Day.ts"
import { type CasePool, casePoolOf, planAt } from "./CaseSelection.ts"
import { comeAgainAfter, isOneRequest, complaintsAbout } from "./Oracle.ts"
import { Tally } from "./Tally.ts"
import type { Tenant } from "./Tenant.ts"
import { exchange, NoAnswer } from "./Wire.ts"

export interface Options {
  readonly seed: number
  /** The numbers of the cases to run. */
  readonly from: number
  readonly to: number
  /** How many cases run at a time. */
  readonly concurrency: number
}

export interface Failure {
  readonly index: number
  /** The request that was answered wrongly. */
  readonly at: string
  readonly complaints: ReadonlyArray<string>
  readonly tried: Case
  /** How many other cases fail in the same way. */
  others: number
}

export interface Outcome {
  readonly cases: number
  readonly seconds: number
  readonly tally: Tally
  readonly failures: ReadonlyArray<Failure>
  /** How many requests had no answer in time, or none at all. */
  readonly hangs: number
  /** How many cases the service could not answer at first, and were retried at the end. */
  readonly turnedAway: number
}

/** The dependencies of a run. */
export interface Dependencies {
  readonly deckOf: (day: Day) => CasePool
  readonly wait: (seconds: number) => Promise<void>
  /** Is told every answer, in the order of the requests of a case. */
  readonly observe: (request: Request, reply: Reply) => void
}

const usual: Dependencies = {
  deckOf: casePoolOf,
  wait: (seconds) => setTimeout(seconds * 1_000),
  observe: () => {}
}

/** Every request must be answered within this many seconds. */
const patience = 10
/** The same for a body that does not arrive, for which the service waits. */
const patienceWithBody = 20

/** A case may hold all batches that its organisation may have, for this many seconds. */
const untilBatchesEnd = 10
const limitReached = '"batch_limit_exceeded"'

const probed: ReadonlySet<Kind> = new Set<Kind>(["bytes", "http", "connection", "worst", "path"])

interface Heard {
  readonly complaints: ReadonlyArray<string>
  readonly replies: ReadonlyArray<Reply>
  /** The seconds after which to retry, if the service cannot answer now. */
  readonly again?: number
}

interface Found extends Omit<Heard, "replies"> {
  readonly at: string
}

/** An address of this machine that hardly any other case comes from. */
const addressOf = (sent: number): string =>
  process.platform === "linux"
    ? `127.${1 + ((sent >> 15) & 63)}.${(sent >> 7) & 255}.${1 + (sent & 127)}`
    : `127.0.0.${1 + (sent & 63)}`

/** The day, and the plans from which its cases are drawn. */
const deckOfDay = (asOf: () => Day, deckOf: Dependencies["deckOf"]) => {
  let present: { readonly day: Day; readonly deck: CasePool } | undefined
  return (): { readonly day: Day; readonly deck: CasePool } => {
    const day = asOf()
    if (present?.day.text !== day.text) present = { day, deck: deckOf(day) }
    return present
  }
}

/** One run on a tenant. */
class Runner {
  readonly #tenant: Tenant
  readonly #options: Options
  readonly #means: Dependencies
  readonly #tally = new Tally()
  readonly #failures = new Map<string, Failure>()
  readonly #today: ReturnType<typeof deckOfDay>
  /** The seconds after which to retry, by the numbers of the cases. */
  readonly #turnedAway = new Map<number, number>()
  #hangs = 0
  #sent = 0
  /** The cases in progress, but for those whose body does not arrive. */
  #busy = 0
  #proceed: () => void = () => {}

  constructor(tenant: Tenant, options: Options, means: Dependencies) {
    this.#tenant = tenant
    this.#options = options
    this.#means = means
    this.#today = deckOfDay(() => dayOf(DateTime.nowUnsafe()), means.deckOf)
  }

  async run(): Promise<Outcome> {
    const { concurrency, from, to } = this.#options
    const begun = performance.now()
    let next = from
    const running = new Set<Promise<void>>()
    this.#proceed = () => {
      while (this.#busy < concurrency && next < to) {
        this.#busy += 1
        const trying = this.#try(next++, false).finally(() => {
          this.#busy -= 1
          running.delete(trying)
          this.#proceed()
        })
        running.add(trying)
      }
    }
    this.#proceed()
    while (running.size > 0) await Promise.all(running)
    await this.#tryTurnedAway()
    return {
      cases: next - from,
      seconds: (performance.now() - begun) / 1_000,
      tally: this.#tally,
      failures: [...this.#failures.values()],
      hangs: this.#hangs,
      turnedAway: this.#turnedAway.size
    }
  }

  /** Retries cases one at a time, so that other cases do not interfere. */
  async #tryTurnedAway(): Promise<void> {
    for (const [index, again] of this.#turnedAway) {
      await this.#means.wait(again)
      await this.#try(index, true)
    }
  }

  async #try(index: number, isRetry: boolean): Promise<void> {
    const { day, deck } = this.#today()
    const plan = planAt(deck, this.#options.seed, index)
    const tried = caseOf(plan, `${index}.${isRetry ? 2 : 1}`, this.#tenant.secrets)
    this.#sent += 1
    const found = await this.#walk(tried, tried.steps, addressOf(this.#sent))
    if (found === null) return
    const { again, at, complaints } = found
    // Validity depends on the day, which may have changed during the case.
    const isOfToday = day.text === this.#today().day.text
    if (!isRetry && (again !== undefined || !isOfToday)) {
      this.#turnedAway.set(index, again ?? 0)
      return
    }
    this.#remember({ index, at, complaints, tried, others: 0 })
  }

  /** Other cases are tried meanwhile: the service waits for the body. Alone, cases keep their order. */
  async #besides<A>(waiting: Promise<A>): Promise<A> {
    if (this.#options.concurrency === 1) return waiting
    this.#busy -= 1
    this.#proceed()
    try {
      return await waiting
    } finally {
      this.#busy += 1
    }
  }

  /** One of each way to fail. */
  #remember(failure: Failure): void {
    const { complaints, tried } = failure
    const way = `${tried.operation} ${tried.kind} ${complaints[0]?.slice(0, 60)}`
    const known = this.#failures.get(way)
    if (known === undefined) this.#failures.set(way, failure)
    else known.others += 1
  }

  async #walk(tried: Case, steps: ReadonlyArray<Step>, from: string): Promise<Found | null> {
    for (const [index, step] of steps.entries()) {
      const isLast = index === steps.length - 1
      const { replies, ...heard } = await this.#send(step, from, tried, isLast)
      const { method, path } = step.request
      if (heard.complaints.length > 0) return { at: `${method} ${path.slice(0, 120)}`, ...heard }
      const [reply] = replies
      if (step.next === undefined || reply === undefined) continue
      const found = await this.#walk(tried, step.next(reply), from)
      if (found !== null) return found
    }
    return null
  }

  async #send(
    { expect, request, times = 1 }: Step,
    from: string,
    { kind }: Case,
    isLast: boolean
  ): Promise<Heard> {
    const { target, secretsOfRun: untold } = this.#tenant
    const seconds = request.framing === "stalled" ? patienceWithBody : patience
    const isWhole = request.framing !== "stalled" && request.framing !== "announced"
    const sending = { from, seconds, probe: isLast && isWhole && probed.has(kind) }
    try {
      const sent = Promise.all(
        Array.from({ length: times }, () => exchange(target, request, sending))
      )
      const exchanges = await (isWhole ? sent : this.#besides(sent))
      for (const { replies } of exchanges) {
        for (const reply of replies) {
          this.#tally.add(request, reply)
          this.#means.observe(request, reply)
        }
      }
      const replies = exchanges.flatMap(({ replies }) => replies)
      const always = [
        ...replies.flatMap((reply) => complaintsAbout(request, reply, target, untold())),
        ...exchanges.flatMap(({ after }) => after ?? [])
      ]
      const again = Math.max(...replies.map((reply) => comeAgainAfter(request, reply) ?? 0))
      if (always.length === 0 && again > 0) {
        return { complaints: ["the service cannot answer now, nor later"], replies, again }
      }
      const complaints = [...always, ...expect(replies)]
      if (complaints.length === 0 && isOneRequest(request)) {
        for (const { body, status } of replies) recordCoverage(request, { status, text: body })
      }
      const isFull =
        complaints.length > 0 && replies.some(({ body }) => body.includes(limitReached))
      return { complaints, replies, ...(isFull && { again: untilBatchesEnd }) }
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      this.#hangs += 1
      return { complaints: [error.message], replies: [] }
    }
  }
}

/** Runs the cases on the tenant. */
export const run = (
  tenant: Tenant,
  options: Options,
  means: Partial<Dependencies> = {}
): Promise<Outcome> => new Runner(tenant, options, { ...usual, ...means }).run()
