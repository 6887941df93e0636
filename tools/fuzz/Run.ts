/**
 * A run: case after case, several at a time, each judged, and the ones that fail made smaller. A
 * case that was found wrong is tried again under another mark, so that what it made the first time
 * does not count.
 */
import { DateTime } from "effect"
import fc from "fast-check"
import { saw } from "@data-import/api/testing/Sightings"
import { type Case, caseOf, type Kind, type Plan, type Reply, type Step } from "./Case.ts"
import { type Day, dayOf } from "./Day.ts"
import { type Deck, deckOf, plansAt, seedOf } from "./Draw.ts"
import { judge } from "./Judge.ts"
import { Tally } from "./Tally.ts"
import type { Tenant } from "./Tenant.ts"
import { exchange, NoAnswer } from "./Wire.ts"

export interface Options {
  readonly seed: number
  /** The numbers of the cases to run. */
  readonly from: number
  readonly to: number
  /** How many at a time. */
  readonly concurrency: number
}

export interface Failure {
  readonly index: number
  /** The request that was answered wrongly. */
  readonly at: string
  /** What is wrong, of the smallest case. */
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
}

/** Within so many seconds every request is answered. */
const patience = 10
/** Unless its body does not come, for which the service waits as long. */
const patienceWithBody = 20

const probed: ReadonlySet<Kind> = new Set<Kind>(["bytes", "http", "path"])

/** Kinds of failure that are made smaller; of the others in a run there is one example as it is. */
const shrunkKinds = 8
const shrinkMilliseconds = 20_000

class Wrong extends Error {}

interface Found {
  readonly at: string
  readonly complaints: ReadonlyArray<string>
}

interface Heard {
  readonly complaints: ReadonlyArray<string>
  readonly replies: ReadonlyArray<Reply>
}

/** An address of this machine that hardly any other case comes from. */
const addressOf = (sent: number): string =>
  `127.${1 + ((sent >> 15) & 63)}.${(sent >> 7) & 255}.${1 + (sent & 127)}`

/** The day, and what its cases are drawn from. */
const deckOfDay = (asOf: () => Day) => {
  let present: { readonly day: Day; readonly deck: Deck } | undefined
  return (): { readonly day: Day; readonly deck: Deck } => {
    const day = asOf()
    if (present?.day.text !== day.text) present = { day, deck: deckOf(day) }
    return present
  }
}

/** One run on a tenant. */
class Runner {
  readonly #tenant: Tenant
  readonly #options: Options
  readonly #tally = new Tally()
  readonly #failures = new Map<string, Failure>()
  readonly #today = deckOfDay(() => dayOf(DateTime.nowUnsafe()))
  #hangs = 0
  #sent = 0

  constructor(tenant: Tenant, options: Options) {
    this.#tenant = tenant
    this.#options = options
  }

  async run(): Promise<Outcome> {
    const { concurrency, from, to } = this.#options
    const begun = performance.now()
    let next = from
    const work = async () => {
      while (next < to) {
        const index = next
        next += 1
        await this.#try(index)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return {
      cases: to - from,
      seconds: (performance.now() - begun) / 1_000,
      tally: this.#tally,
      failures: [...this.#failures.values()],
      hangs: this.#hangs
    }
  }

  async #try(index: number): Promise<void> {
    const { day, deck } = this.#today()
    let attempt = 0
    let failed: (Found & { readonly smallest: Case }) | undefined
    const property = fc.asyncProperty(plansAt(deck, index), async (plan: Plan) => {
      attempt += 1
      const tried = caseOf(plan, `${index}.${attempt}`, this.#tenant.secrets)
      const found = await this.#perform(tried)
      if (found === null) return
      failed = { smallest: tried, ...found }
      throw new Wrong()
    })
    const { failed: isFailed, numShrinks } = await fc.check(property, {
      seed: seedOf(this.#options.seed, index),
      numRuns: 1,
      endOnFailure: this.#failures.size >= shrunkKinds,
      interruptAfterTimeLimit: shrinkMilliseconds
    })
    if (!isFailed || failed === undefined) return
    // What is valid today was not, or no longer is, while the day changed.
    if (day.text !== this.#today().day.text) return this.#try(index)
    this.#remember({ index, ...failed, shrinks: numShrinks, others: 0 })
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
      const { complaints, replies } = await this.#send(step, from, tried, isLast)
      const { method, path } = step.request
      if (complaints.length > 0) return { at: `${method} ${path.slice(0, 120)}`, complaints }
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
    const { target, untold } = this.#tenant
    const seconds = request.framing === "stalled" ? patienceWithBody : patience
    const isWhole = request.framing !== "stalled" && request.framing !== "announced"
    const sending = { from, seconds, probe: isLast && isWhole && probed.has(kind) }
    try {
      const exchanges = await Promise.all(
        Array.from({ length: times }, () => exchange(target, request, sending))
      )
      for (const { milliseconds, reply } of exchanges) {
        this.#tally.add({ column: isLast ? kind : "before", milliseconds, reply, request })
      }
      const replies = exchanges.map(({ reply }) => reply)
      const complaints = [
        ...replies.flatMap((reply) => judge(request, reply, target, untold())),
        ...expect(replies),
        ...exchanges.flatMap(({ after }) => after ?? [])
      ]
      if (complaints.length === 0 && request.raw === undefined) {
        for (const { body, status } of replies) saw(request, { status, text: body })
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
export const run = (tenant: Tenant, options: Options): Promise<Outcome> =>
  new Runner(tenant, options).run()
