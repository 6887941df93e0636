/**
 * The `Idempotency-Key` header of endpoints that write. A request with a key runs at most once, and
 * a repeat gets the kept answer, byte for byte. `writing` makes the handlers of these endpoints.
 * Source: the IETF draft "The Idempotency-Key HTTP Header Field",
 * docs/contract/http.md#idempotency-keys.
 */
import { createHash } from "node:crypto"
import { Effect, type Result } from "effect"
import { ValidationFailed } from "@data-import/domain/requests/Failure"
import type { FieldError } from "@data-import/domain/schema/FieldErrors"
import {
  Fingerprint,
  IdempotencyKey,
  idempotencyKeyLength,
  type ResponseRecorder
} from "@data-import/domain/idempotency/IdempotencyKey"
import { IdempotentWrites } from "@data-import/domain/idempotency/IdempotentWrites"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import * as Answer from "../http/Answer.ts"
import type { Answered } from "../http/Answer.ts"
import type { Call } from "../http/IncomingRequest.ts"

const header = "idempotency-key"

/**
 * One element: a structured-field string, or bare characters without spaces, quotes, commas and
 * backslashes. A header that was sent several times arrives as a list, joined by Node or a proxy.
 */
const element = /[ \t]*(?:"((?:[ !#-[\]-~]|\\["\\])*)"|([!#-+\--[\]-~]+))[ \t]*(,|$)/y

/** The elements of the header; none if it is malformed. */
const elementsOf = (value: string): ReadonlyArray<string> => {
  const elements: Array<string> = []
  element.lastIndex = 0
  for (;;) {
    const found = element.exec(value)
    if (found === null) return []
    const [, quoted, bare = "", separator] = found
    elements.push(quoted?.replaceAll(/\\(.)/g, "$1") ?? bare)
    if (separator === "") return elements
  }
}

/** The key that the header names; undefined if it names none or several. */
export const keyIn = (value: string): IdempotencyKey | undefined => {
  const [key = "", ...others] = new Set(elementsOf(value))
  return others.length === 0 && key.length >= 1 && key.length <= idempotencyKeyLength
    ? IdempotencyKey.make(key)
    : undefined
}

const malformed = (code: ValidationFailed["code"]) =>
  new ValidationFailed({
    code,
    errors: [
      {
        attr: "Idempotency-Key",
        code: "invalid",
        detail:
          `Must be one key of 1 to ${idempotencyKeyLength} printable ASCII characters, ` +
          "bare or in double quotes."
      }
    ]
  })

/** The hash of the path and query as they were sent (`url`), and of the bytes of the body. */
export const fingerprintOf = (url: string, bytes: Buffer): Fingerprint =>
  Fingerprint.make(createHash("sha256").update(`${url}\n`).update(bytes).digest("hex"))

/** A body as it was sent, and its JSON, unchecked. */
interface SentBody {
  readonly bytes: Buffer
  readonly json: unknown
}

/** A request to write. `recorder` is for the program; null if the request has no key. */
export interface WriteCall<P = unknown> extends Call {
  readonly caller: Caller
  readonly body: unknown
  readonly parameters: Result.Result<P, ReadonlyArray<FieldError>>
  readonly recorder: ResponseRecorder<unknown> | null
}

/** Answers a request. `code` is the code of the refusal of a malformed key. */
type AnswerWrite = (
  call: Omit<WriteCall, "body" | "recorder">,
  body: SentBody,
  code: ValidationFailed["code"]
) => Answered

/** The implementation of an endpoint that writes. */
export class Writing<out Status extends Answer.SuccessStatus, out Body> {
  /** For the compiler alone. */
  declare readonly carries: Answer.Carries<Status, Body>
  readonly answer: AnswerWrite

  constructor(answer: AnswerWrite) {
    this.answer = answer
  }
}

/** Calls the program of an endpoint, and passes `recorder` on to it. */
type Run<A, P> = (call: WriteCall<P>) => Effect.Effect<A, Answer.Refused>

/** What the answer to a write may depend on besides its result. */
type Answering = Pick<WriteCall, "caller">

const answerOf =
  <A, P>(
    writes: IdempotentWrites["Service"],
    run: Run<A, P>,
    succeed: (result: A, call: Answering) => Answer.Success<Answer.SuccessStatus, unknown>
  ): AnswerWrite =>
  (call, { bytes, json }, code) => {
    const runWith = (recorder: ResponseRecorder<A> | null) =>
      // The kept answer is the result of this run, so the types agree.
      run({
        ...call,
        body: json,
        recorder: recorder as ResponseRecorder<unknown> | null
      } as WriteCall<P>)
    const value = call.request.headers[header]
    if (value === undefined) {
      return Effect.flatMap(runWith(null), (result) => Answer.success(succeed(result, call)))
    }
    const key = keyIn(value)
    if (key === undefined) return Effect.fail(malformed(code))
    const { organisation } = call.caller
    const request = { organisation, key, fingerprint: fingerprintOf(call.request.url, bytes) }
    return Effect.flatMap(
      writes.run(request, (result: A) => Answer.kept(succeed(result, call)), runWith),
      (written) =>
        written._tag === "Fresh"
          ? Answer.success(succeed(written.answer, call))
          : Effect.succeed(Answer.replayed(written.text))
    )
  }

/** Makes the implementation of an endpoint that writes: `run` calls the program. */
export const writing = Effect.map(
  IdempotentWrites,
  (writes) =>
    <A, const Status extends Answer.SuccessStatus, Body, P = unknown>(
      run: Run<A, P>,
      succeed: (result: A, call: Answering) => Answer.Success<Status, Body>
    ): Writing<Status, Body> =>
      new Writing(answerOf(writes, run, succeed))
)
