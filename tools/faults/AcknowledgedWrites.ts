/**
 * What clients sent for each account, and what of it was acknowledged. The verification compares it
 * with what is stored. A write that was sent and never acknowledged may be stored or not, but never
 * in part and never twice.
 */
import type { Addition } from "./Requests.ts"

export interface Entry {
  readonly number: string
  /** The marker of the staging that was acknowledged last. */
  marker: string | null
  /** Markers that were sent after it. */
  uncertain: ReadonlyArray<string>
  processed: boolean
  /** The platform's number, as it was answered. */
  account: string | null
  readonly sent: Set<Addition>
  readonly acknowledged: Set<Addition>
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
}
