/**
 * How often each service has answered so far, and waiting for it to answer again: what the faults
 * are timed by, so that they strike at work, and what tells that the system has recovered.
 */
import { Data, Deferred, Duration, Effect } from "effect"
import type { ServiceName } from "./ServiceProcess.ts"

/** A service has given no more answers for a minute. */
export class Stalled extends Data.TaggedError("Stalled")<{ readonly service: ServiceName }> {
  override get message(): string {
    return `${this.service} gave no more answers`
  }
}

interface Waiting {
  readonly at: number
  readonly done: Deferred.Deferred<void>
}

const limit = Duration.minutes(1)

export class Pulse {
  readonly #beats = new Map<ServiceName, number>()
  readonly #waiting = new Map<ServiceName, ReadonlyArray<Waiting>>()

  beat(service: ServiceName): void {
    const beats = this.beats(service) + 1
    this.#beats.set(service, beats)
    const waiting = this.#waiting.get(service) ?? []
    // Whoever is told may come back at once to wait for more.
    this.#waiting.set(
      service,
      waiting.filter(({ at }) => at > beats)
    )
    for (const { at, done } of waiting) {
      if (at <= beats) Deferred.doneUnsafe(done, Effect.void)
    }
  }

  beats(service: ServiceName): number {
    return this.#beats.get(service) ?? 0
  }

  /** Done when the service has answered so many times more. */
  more(service: ServiceName, times: number): Effect.Effect<void, Stalled> {
    return Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void>()
      const waiting = { at: this.beats(service) + times, done }
      this.#waiting.set(service, [...(this.#waiting.get(service) ?? []), waiting])
      return Deferred.await(done)
    }).pipe(
      Effect.timeoutOrElse({
        duration: limit,
        orElse: () => Effect.fail(new Stalled({ service }))
      })
    )
  }
}
