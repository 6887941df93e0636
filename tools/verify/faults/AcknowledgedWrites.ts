/**
 * The writes that clients sent for each account, and which of them were acknowledged. The
 * verification compares them with what is stored. A write that was sent but never acknowledged may
 * be stored or not, but never in part and never twice.
 */
import { Effect } from "effect"
import type { Addition } from "./Requests.ts"

export interface Entry {
  readonly number: string
  /** The marker of the staging that was acknowledged last. */
  marker: string | null
  /** Markers that were sent after it. */
  uncertain: ReadonlyArray<string>
  /** Every marker that was sent, in order. */
  markers: ReadonlyArray<string>
  processed: boolean
  /** The platform's account number from the answer. */
  account: string | null
  readonly sent: Set<Addition>
  readonly acknowledged: Set<Addition>
}

/** The writes that were acknowledged before a moment, and those that were sent before it. */
export interface Point<A> {
  /** The result of the effect at the moment. */
  readonly moment: A
  readonly entries: ReadonlyArray<Entry>
  readonly acknowledged: number
}

/** The entry as it is at a moment between the earlier copy and now. */
const between = (earlier: Entry | undefined, now: Entry): Entry => {
  const marker = earlier?.marker ?? null
  return {
    number: now.number,
    marker,
    uncertain: now.markers.slice(marker === null ? 0 : now.markers.indexOf(marker) + 1),
    markers: now.markers,
    processed: now.processed,
    account: earlier?.account ?? null,
    sent: new Set(now.sent),
    acknowledged: earlier?.acknowledged ?? new Set()
  }
}

export class AcknowledgedWrites {
  readonly #entries = new Map<string, Entry>()
  #acknowledged = 0

  get entries(): ReadonlyArray<Entry> {
    return [...this.#entries.values()]
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged
  }

  /** The entry of the account, which begins empty. */
  of(number: string): Entry {
    const present = this.#entries.get(number)
    if (present !== undefined) return present
    const entry: Entry = {
      number,
      marker: null,
      uncertain: [],
      markers: [],
      processed: false,
      account: null,
      sent: new Set(),
      acknowledged: new Set()
    }
    this.#entries.set(number, entry)
    return entry
  }

  staging(entry: Entry, marker: string): void {
    entry.uncertain = [...entry.uncertain, marker]
    entry.markers = [...entry.markers, marker]
  }

  staged(entry: Entry, marker: string): void {
    entry.marker = marker
    entry.uncertain = []
    this.#acknowledged++
  }

  imported(entry: Entry, account: string): void {
    entry.account = account
    this.#acknowledged++
  }

  added(entry: Entry, addition: Addition): void {
    entry.acknowledged.add(addition)
    this.#acknowledged++
  }

  /**
   * What is known about a moment while writes go on: a write acknowledged before `asking` began is
   * before it, and one sent after `asking` ended is after it.
   */
  at<A, E, R>(asking: Effect.Effect<A, E, R>): Effect.Effect<Point<A>, E, R> {
    return Effect.gen({ self: this }, function* () {
      const acknowledged = this.#acknowledged
      const earlier = new Map(
        this.entries.map((entry) => [
          entry.number,
          { ...entry, acknowledged: new Set(entry.acknowledged) }
        ])
      )
      const moment = yield* asking
      const entries = this.entries.map((now) => between(earlier.get(now.number), now))
      return { moment, entries, acknowledged }
    })
  }
}
