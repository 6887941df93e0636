/**
 * A client of batches, which continues after lost answers as the contract says. Every answer with
 * counts is checked: the counts add up, and none decreases.
 * Source: docs/contract/batches.md#upload, docs/contract/batches.md#the-batch.
 */
import { Data, Duration, Effect, type Scope } from "effect"
import { get } from "@data-import/domain/testing/wire"
import * as Client from "@data-import/testbed/Client"
import type { Tenant } from "@data-import/testbed/Tenants"
import type { SentLine } from "./BatchLines.ts"
import type { Findings } from "./Findings.ts"
import type { Session } from "./Session.ts"

const root = "/v1/data-import/batches/"

/** A request for a batch was refused, or the batch did not reach the wanted state in time. */
class BatchFailed extends Data.TaggedError("BatchFailed")<{ readonly message: string }> {}

const ends = ["succeeded", "already", "failed", "cancelled"] as const

type Counts = Readonly<Record<(typeof ends)[number] | "received" | "remaining", number>>

/** The batch as last answered. */
export interface Seen {
  readonly state: string
  readonly counts: Counts
}

export const endedOf = ({ counts }: Seen): number => counts.received - counts.remaining

const seenIn = (json: unknown): Seen => ({
  state: get(json, "state") as string,
  counts: get(json, "counts") as Counts
})

const settled = Effect.fnUntraced(function* (session: Session, request: Client.Request) {
  const { answer } = yield* session.settle(request)
  if (answer.status < 300) return answer
  const { method, path } = request
  const message = `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`
  return yield* new BatchFailed({ message })
})

/** How many lines are sent as one chunk. */
const together = 20

/** The text of the lines from this one on; `sent` is called with the number of each. */
const textOf = function* (
  lines: ReadonlyArray<SentLine>,
  from: number,
  sent: (line: number) => void
) {
  for (let first = from; first <= lines.length; first += together) {
    const piece = lines.slice(first - 1, first - 1 + together)
    yield piece.map(({ text }) => `${text}\n`).join("")
    for (const [index] of piece.entries()) sent(first + index)
  }
}

export class BatchClient {
  readonly id: string
  readonly #session: Session
  readonly #findings: Findings
  readonly #path: string
  #answers = 0
  #last: Seen | null = null

  constructor(id: string, session: Session, findings: Findings) {
    this.id = id
    this.#session = session
    this.#findings = findings
    this.#path = `${root}${id}/`
  }

  /** How many answers had counts. */
  get answers(): number {
    return this.#answers
  }

  /** `before` is what was seen when the request was sent. Answers may overtake each other. */
  #observe(answer: Client.Answer, before: Counts | undefined): Seen {
    const seen = seenIn(answer.json)
    const { counts } = seen
    const sum = ends.reduce((all, name) => all + counts[name], counts.remaining)
    const text = JSON.stringify(counts)
    if (counts.received !== sum || Math.min(...Object.values(counts)) < 0) {
      this.#findings.add("wrong", `the counts do not close: ${text}`)
    }
    if (
      before !== undefined &&
      ["received" as const, ...ends].some((name) => counts[name] < before[name])
    ) {
      this.#findings.add("wrong", `counts fell from ${JSON.stringify(before)} to ${text}`)
    }
    this.#answers++
    this.#last = seen
    return seen
  }

  #send(request: Client.Request) {
    return Effect.suspend(() => {
      const before = this.#last?.counts
      return Effect.map(settled(this.#session, request), (answer) => this.#observe(answer, before))
    })
  }

  /** The present batch. Repeats the request until it is answered. */
  read() {
    return this.#send({ method: "GET", path: this.#path })
  }

  /** The batch once it is as wanted. */
  until(isWanted: (seen: Seen) => boolean) {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const seen = yield* this.read()
        if (isWanted(seen)) return seen
        yield* Effect.sleep(Duration.millis(50))
      }
    }).pipe(
      Effect.timeoutOrElse({
        duration: Duration.minutes(10),
        orElse: () => {
          const message = `the batch stays ${JSON.stringify(this.#last)}`
          return Effect.fail(new BatchFailed({ message }))
        }
      })
    )
  }

  /** Waits until it has ended, and no worker holds a line of it. */
  get ended() {
    return this.until(({ counts, state }) => /^C/.test(state) && counts.remaining === 0)
  }

  /** Sends the lines. After a lost answer or a refusal it continues after the received lines. */
  upload(lines: ReadonlyArray<SentLine>, sent: (line: number) => void = () => {}) {
    return Effect.gen({ self: this }, function* () {
      let attempts = 0
      for (let received = 0; received < lines.length; attempts++) {
        const path = `${this.#path}lines/?from_line=${received + 1}`
        const body = textOf(lines, received + 1, sent)
        const put = this.#session.send({ method: "PUT", path, lines: body })
        const result = yield* Effect.result(put)
        const status = result._tag === "Success" ? result.success.status : 503
        if (status !== 200 && status < 500) {
          const text = result._tag === "Success" ? result.success.text : ""
          this.#findings.add("wrong", `an upload was answered ${status} ${text}`)
        }
        received = (yield* this.read()).counts.received
      }
      return attempts
    })
  }

  start(lines: number) {
    const body = { payload: { total_lines: lines } }
    return this.#send({ method: "POST", path: `${this.#path}start/`, body })
  }

  /** The results of all its lines. */
  get results() {
    const request = { method: "GET", path: `${this.#path}results/` } as const
    return Effect.map(settled(this.#session, request), ({ text }) =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line))
    )
  }
}

/** A new batch of the tenant. */
export const create = Effect.fnUntraced(function* (
  { supplier, team }: Tenant,
  session: Session,
  findings: Findings,
  operation: "STAGE" | "IMPORT" | "PAYMENT_INSTRUCTIONS"
) {
  const owner = operation === "IMPORT" ? { operations_team_name: team } : {}
  const payload = { import_supplier: supplier, operation, ...owner }
  const answer = yield* settled(session, { method: "POST", path: root, body: { payload } })
  return new BatchClient(Client.textAt(answer.json, "batch_id"), session, findings)
})

/** Reads the batch repeatedly until the scope ends, so that its counts are checked. */
export const watch = (batch: BatchClient): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.forkScoped(
      Effect.forever(
        Effect.andThen(Effect.ignore(batch.read()), Effect.sleep(Duration.millis(200)))
      )
    )
  )
