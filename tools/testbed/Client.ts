/**
 * A supplier's client. It keeps its connections, and repeats a request unchanged until the answer
 * is final. It reports how often it had to send.
 */
import { Agent, type ClientRequest, request as open } from "node:http"
import { Readable } from "node:stream"
import { Data, Duration, Effect, Predicate, type Scope } from "effect"

export interface Request {
  readonly method: "GET" | "POST" | "PUT"
  readonly path: string
  readonly token?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged, instead of a body. */
  readonly text?: string
  /** The media type of the text; JSON unless given. */
  readonly type?: string
  /** Lines of a batch, sent while they are made, in the place of a body. */
  readonly lines?: Iterable<string> | AsyncIterable<string>
  /** The idempotency key, in printable ASCII. */
  readonly key?: string
}

export interface Answer {
  readonly status: number
  /** Of the `Retry-After` header; null if there is none. */
  readonly retryAfter: number | null
  readonly text: string
  /** Undefined if the text is not JSON. */
  readonly json: unknown
  readonly millis: number
}

/** The connection ended or was refused, so the fate of the request is unknown. */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{
  readonly why: string
}> {}

/** A request got no final answer, although it was sent again and again. */
export class Unanswered extends Data.TaggedError("Unanswered")<{
  readonly path: string
  readonly last: string
}> {
  override get message(): string {
    return `${this.path} was never answered: ${this.last}`
  }
}

/** An answer and how often the request was sent for it. */
export interface Settled {
  readonly answer: Answer
  readonly attempts: number
}

/** Longer than the gateway waits for a service before it answers itself. */
const answerLimit = Duration.seconds(45)
const settleLimitMillis = 90_000
const firstPauseMillis = 25
const longestPauseMillis = 400

/** The text under a name of a JSON object; empty where there is none. */
export const textAt = (json: unknown, name: string): string => {
  const found: unknown = Predicate.isObject(json) ? Reflect.get(json, name) : undefined
  return Predicate.isString(found) ? found : ""
}

/** The machine-readable code of an error answer; empty where there is none. */
export const codeOf = ({ json }: Answer): string => textAt(json, "code")

const parsed = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    // A truncated body counts as none; the status tells what it belonged to.
    return undefined
  }
}

/** Makes no more lines when the connection has ended. */
const pass = (lines: NonNullable<Request["lines"]>, outgoing: ClientRequest): void => {
  const readable = Readable.from(lines)
  // The request reports why it was lost.
  readable.once("error", (error) => outgoing.destroy(error))
  outgoing.once("close", () => readable.destroy())
  readable.pipe(outgoing)
}

const isTransient = (answer: Answer): boolean =>
  answer.status >= 500 || answer.status === 429 || codeOf(answer) === "idempotency_key_in_use"

export class Client {
  readonly #port: number
  readonly #agent: Agent

  constructor(port: number, connections: number) {
    this.#port = port
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** One request, sent once. */
  send(request: Request): Effect.Effect<Answer, ConnectionLost> {
    const { body, key, lines, method, path, text = JSON.stringify(body), token } = request
    const { type = "application/json" } = request
    const sent = Effect.callback<Answer, ConnectionLost>((resume) => {
      const began = performance.now()
      const lose = (why: string) => resume(Effect.fail(new ConnectionLost({ why })))
      const headers = {
        ...(token !== undefined && { authorization: `Token ${token}` }),
        ...(key !== undefined && { "idempotency-key": JSON.stringify(key) }),
        ...(text !== undefined && {
          "content-type": type,
          "content-length": Buffer.byteLength(text)
        }),
        ...(lines !== undefined && { "content-type": "application/x-ndjson" })
      }
      const target = { host: "127.0.0.1", port: this.#port, agent: this.#agent }
      const outgoing = open({ ...target, method, path, headers }, (message) => {
        const chunks: Array<Buffer> = []
        message.on("data", (chunk: Buffer) => chunks.push(chunk))
        message.once("error", (error) => lose(error.message))
        message.once("end", () => {
          const retryAfter = message.headers["retry-after"]
          const answered = Buffer.concat(chunks).toString("utf8")
          resume(
            Effect.succeed({
              status: message.statusCode ?? 0,
              retryAfter: retryAfter === undefined ? null : Number(retryAfter),
              text: answered,
              json: parsed(answered),
              millis: performance.now() - began
            })
          )
        })
      })
      outgoing.once("error", (error) => lose(error.message))
      if (lines === undefined) outgoing.end(text)
      else pass(lines, outgoing)
      return Effect.sync(() => outgoing.destroy())
    })
    return Effect.timeoutOrElse(sent, {
      duration: answerLimit,
      orElse: () => Effect.fail(new ConnectionLost({ why: "no answer in time" }))
    })
  }

  /**
   * Repeats the request while its answer is lost, 5xx, 429, or says that the key is in use. `watch`
   * receives each answer that is not final, and null for a lost one.
   */
  settle(
    request: Request,
    watch: (answer: Answer | null) => void
  ): Effect.Effect<Settled, Unanswered> {
    return Effect.gen({ self: this }, function* () {
      const deadline = performance.now() + settleLimitMillis
      let pause = firstPauseMillis
      let last = ""
      for (let attempts = 1; performance.now() < deadline; attempts++) {
        const result = yield* Effect.result(this.send(request))
        if (result._tag === "Success") {
          const answer = result.success
          if (!isTransient(answer)) return { answer, attempts }
          watch(answer)
          last = `${answer.status} ${codeOf(answer)}`
        } else {
          watch(null)
          last = result.failure.why
        }
        yield* Effect.sleep(Duration.millis(pause))
        pause = Math.min(pause * 2, longestPauseMillis)
      }
      return yield* new Unanswered({ path: request.path, last })
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/**
 * A client of the service or proxy at this port, with at most this many connections. They end with
 * the scope.
 */
export const make = (port: number, connections = 1): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Client(port, connections)),
    (client) => Effect.sync(() => client.close())
  )
