/**
 * A run of cases, several at a time. Every answer is checked, and failing cases are shrunk. A
 * retried case has another mark, so that data stored the first time does not matter. A case that
 * the service cannot answer now is retried once after all others.
 */
import { setTimeout } from "node:timers/promises"
import { DateTime } from "effect"
import fc from "fast-check"
import { recordCoverage } from "@data-import/api/testing/ContractCoverage"
import {
  type Case,
  caseOf,
  type Kind,
  type Plan,
  type Reply,
  type Request,
  type Step
} from "./Case.ts"
import { type Day, dayOf } from "./Day.ts"
import { type CasePool, casePoolOf, plansAt, seedOf } from "./CaseSelection.ts"
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
  /** No case begins later than this many minutes after the first. */
  readonly minutes: number
}

export interface Failure {
  readonly index: number
  /** The request that was answered wrongly. */
  readonly at: string
  /** What is wrong with the smallest case. */
  readonly complaints: ReadonlyArray<string>
  /** The smallest case that fails. */
  readonly smallest: Case
  readonly shrinks: number
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
  /** For how long a failed case is shrunk. */
  readonly shrinkMilliseconds: number
  /** Is told every answer, in the order of the requests of a case. */
  readonly observe: (request: Request, reply: Reply) => void
}

const usual: Dependencies = {
  deckOf: casePoolOf,
  wait: (seconds) => setTimeout(seconds * 1_000),
  shrinkMilliseconds: 20_000,
  observe: () => {}
}

/** Every request must be answered within this many seconds. */
const patience = 10
/** The same for a body that does not arrive, for which the service waits. */
const patienceWithBody = 20

const probed: ReadonlySet<Kind> = new Set<Kind>(["bytes", "http", "connection", "worst", "path"])

/** How many kinds of failure are shrunk; the others have one unshrunk example. */
const shrunkKinds = 8

class Wrong extends Error {}

interface Heard {
  readonly complaints: ReadonlyArray<string>
  readonly replies: ReadonlyArray<Reply>
  /** The seconds after which to retry, if the service cannot answer now. */
  readonly again?: number
}

interface Found extends Omit<Heard, "replies"> {
  readonly at: string
}

interface Try {
  /** How often the case was tried before, which is also the number of used marks. */
  readonly attempts: number
  /** Whether a missing answer is now a failure. */
  readonly isLast: boolean
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
  readonly #turnedAway = new Map<number, { readonly attempts: number; readonly again: number }>()
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
    const { concurrency, from, minutes, to } = this.#options
    const begun = performance.now()
    const last = begun + minutes * 60_000
    let next = from
    const running = new Set<Promise<void>>()
    this.#proceed = () => {
      for (; this.#busy < concurrency && next < to && performance.now() <= last; next++) {
        this.#busy += 1
        const trying = this.#try(next, { attempts: 0, isLast: false }).finally(() => {
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
    for (const [index, { again, attempts }] of this.#turnedAway) {
      await this.#means.wait(again)
      await this.#try(index, { attempts, isLast: true })
    }
  }

  async #try(index: number, { attempts, isLast }: Try): Promise<void> {
    const { day, deck } = this.#today()
    let attempt = attempts
    let failed: (Found & { readonly smallest: Case }) | undefined
    // The limit of fast-check would also end a slow case, silently.
    let shrinksUntil = Infinity
    const property = fc.asyncProperty(plansAt(deck, index), async (plan: Plan) => {
      if (performance.now() > shrinksUntil) return
      attempt += 1
      const tried = caseOf(plan, `${index}.${attempt}`, this.#tenant.secrets)
      const found = await this.#perform(tried)
      if (found === null) return
      if (found.again !== undefined && !isLast) {
        // A smaller form of a failed case is not retried.
        if (failed === undefined)
          this.#turnedAway.set(index, { attempts: attempt, again: found.again })
        return
      }
      if (failed === undefined) shrinksUntil = performance.now() + this.#means.shrinkMilliseconds
      failed = { smallest: tried, ...found }
      throw new Wrong()
    })
    const { failed: isFailed, numShrinks } = await fc.check(property, {
      seed: seedOf(this.#options.seed, index),
      numRuns: 1,
      endOnFailure: this.#failures.size >= shrunkKinds
    })
    if (!isFailed || failed === undefined) return
    // Validity depends on the day, which changed during the case.
    if (day.text !== this.#today().day.text) return this.#try(index, { attempts: attempt, isLast })
    this.#remember({ index, ...failed, shrinks: numShrinks, others: 0 })
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
    const { complaints, smallest } = failure
    const way = `${smallest.operation} ${smallest.kind} ${complaints[0]?.slice(0, 60)}`
    const known = this.#failures.get(way)
    if (known === undefined) this.#failures.set(way, failure)
    else known.others += 1
  }

  async #perform(tried: Case): Promise<Found | null> {
    this.#sent += 1
    return this.#walk(tried, tried.steps, addressOf(this.#sent))
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
      const column = isLast ? kind : "before"
      for (const { milliseconds, replies } of exchanges) {
        for (const reply of replies) {
          this.#tally.add({ column, milliseconds, reply, request })
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
      return { complaints, replies }
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
