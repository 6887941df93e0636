/**
 * Counts the answers of each service, and the refusals of all services. A scenario waits for
 * further ones to time its faults, and to notice when the system has recovered.
 */
import { Data, Deferred, Duration, Effect } from "effect"
import type { ServiceName } from "@data-import/testbed/Wiring"

/** An answer of a service, or a refusal or a lost connection after which the client continues. */
export type Signal = ServiceName | "refusal"

/** No further signal came for a minute. */
export class Stalled extends Data.TaggedError("Stalled")<{ readonly of: Signal }> {
  override get message(): string {
    return this.of === "refusal" ? "nothing was refused" : `${this.of} gave no more answers`
  }
}

interface Waiting {
  readonly at: number
  readonly done: Deferred.Deferred<void>
}

const limit = Duration.minutes(1)

export class Probe {
  readonly #beats = new Map<Signal, number>()
  readonly #waiting = new Map<Signal, ReadonlyArray<Waiting>>()

  record(of: Signal): void {
    const count = this.beats(of) + 1
    this.#beats.set(of, count)
    const waiting = this.#waiting.get(of) ?? []
    // A resumed fiber may wait for more at once.
    this.#waiting.set(
      of,
      waiting.filter(({ at }) => at > count)
    )
    for (const { at, done } of waiting) {
      if (at <= count) Deferred.doneUnsafe(done, Effect.void)
    }
  }

  beats(of: Signal): number {
    return this.#beats.get(of) ?? 0
  }

  /** Succeeds after this many further signals. */
  more(of: Signal, times: number): Effect.Effect<void, Stalled> {
    return Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void>()
      const waiting = { at: this.beats(of) + times, done }
      this.#waiting.set(of, [...(this.#waiting.get(of) ?? []), waiting])
      return Deferred.await(done)
    }).pipe(
      Effect.timeoutOrElse({
        duration: limit,
        orElse: () => Effect.fail(new Stalled({ of }))
      })
    )
  }
}
