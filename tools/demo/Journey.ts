/** Walks the steps in order against the running system, and stops at the first wrong answer. */
import type { Demo } from "@data-import/local/DemoFile"
import { gzipSync } from "node:zlib"
import { Clock, Console, Data, Effect, Option, Random, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { differences } from "./ResponsePattern.ts"
import { Operator } from "./Operator.ts"
import { indented, json, type Paint, quoted, shortened, withoutSecrets } from "./Output.ts"
import type { Command, Known, Request, Step } from "./Step.ts"

/** Nothing answers at the address in `demo.json`. */
class NobodyAnswers extends Data.TaggedError("NobodyAnswers")<{
  readonly baseUrl: string
}> {}

/** An answer differs from the contract. */
class WrongAnswer extends Data.TaggedError("WrongAnswer")<{
  readonly title: string
  readonly differences: ReadonlyArray<string>
}> {}

const freshNumber = Effect.gen(function* () {
  const digits = yield* Random.nextIntBetween(0, 46_656)
  const suffix = digits.toString(36).padStart(3, "0")
  return `DEMO-${yield* Clock.currentTimeMillis}-${suffix}`
})

const headersOf = ({ key, knownTag, lines, token }: Sent): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { Authorization: `Token ${token}` }),
  ...(key !== undefined && { "Idempotency-Key": key }),
  ...(knownTag !== undefined && { "If-None-Match": knownTag }),
  ...(lines !== undefined && { "Content-Encoding": "gzip" })
})

const replayed = "idempotency-replayed"

const ndjson = "application/x-ndjson"

const withBody = (request: HttpClientRequest.HttpClientRequest, { body, lines }: Request) => {
  if (lines !== undefined) {
    const bytes = gzipSync(lines.map((line) => `${line}\n`).join(""))
    return HttpClientRequest.bodyUint8Array(request, bytes, ndjson)
  }
  return body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body)
}

/** A request with the entity tag that the client knows. */
type Sent = Request & { readonly knownTag?: string | undefined }

const send = (request: Sent, baseUrl: string) => {
  const { method, path } = request
  const identified = HttpClientRequest.make(method)(baseUrl + path).pipe(
    HttpClientRequest.setHeaders(headersOf(request))
  )
  return HttpClient.execute(withBody(identified, request)).pipe(
    Effect.mapError(() => new NobodyAnswers({ baseUrl }))
  )
}

/** The body as JSON, lines of JSON as a list; as text where it is neither, so that it can be shown. */
const bodyOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.text, (text): unknown =>
    Result.getOrElse(
      Result.try((): unknown =>
        response.headers["content-type"]?.startsWith(ndjson) === true
          ? text.split("\n").flatMap((line): Array<unknown> => (line ? [JSON.parse(line)] : []))
          : JSON.parse(text)
      ),
      () => text
    )
  )

const shownRequest = (request: Sent, paint: Paint) => {
  const { body, lines: sent, method, path } = request
  const lines = [paint("cyan", `${method} ${path}`)]
  for (const [name, value] of Object.entries(headersOf(request))) {
    lines.push(paint("dim", `  ${name}: ${value}`))
  }
  if (body !== undefined) lines.push(paint("dim", `  ${json(body)}`))
  if (sent !== undefined) lines.push(paint("dim", `  ${sent.length} lines of JSON`))
  return lines.join("\n")
}

const print = (text: string) => Console.log(withoutSecrets(text))

const CountedBatch = Schema.Struct({
  state: Schema.String,
  finished_at: Schema.NullOr(Schema.String),
  counts: Schema.Struct({
    received: Schema.Int,
    succeeded: Schema.Int,
    already: Schema.Int,
    failed: Schema.Int,
    cancelled: Schema.Int,
    remaining: Schema.Int
  })
})
const decodeBatch = Schema.decodeUnknownOption(CountedBatch)

/** What is wrong with the counts of a batch: they add up in every answer. */
const unbalanced = ({ counts }: typeof CountedBatch.Type): ReadonlyArray<string> => {
  const { already, cancelled, failed, received, remaining, succeeded } = counts
  return differences(received, succeeded + already + failed + cancelled + remaining, "counts")
}

/** The answer after which nothing of the batch changes, or the first one that is wrong. */
const untilItEnds = Effect.fnUntraced(function* (title: string, request: Request, known: Known) {
  let knownTag: string | undefined
  while (true) {
    const response = yield* send({ ...request, knownTag }, known.demo.baseUrl)
    const body = yield* bodyOf(response)
    if (response.status === 304) continue
    const batch = decodeBatch(body)
    if (Option.isNone(batch)) return { response, body }
    const { counts, finished_at, state } = batch.value
    const wrong = unbalanced(batch.value)
    if (wrong.length > 0) return yield* new WrongAnswer({ title, differences: wrong })
    if (finished_at !== null) return { response, body }
    yield* print(`  ${state}, ${counts.remaining} of ${counts.received} lines remain`)
    knownTag = response.headers["etag"]
  }
})

const answerTo = Effect.fnUntraced(function* (step: Step, request: Request, known: Known) {
  if (step.watched === true) return yield* untilItEnds(step.title, request, known)
  const response = yield* send(request, known.demo.baseUrl)
  return { response, body: yield* bodyOf(response) }
})

const walkRequest = Effect.fnUntraced(function* (known: Known, step: Step, paint: Paint) {
  if (step.before !== undefined) yield* step.before(known)
  const request = step.request(known)
  yield* print(shownRequest(request, paint))
  const { body, response } = yield* answerTo(step, request, known)
  const found = [
    ...differences(step.status, response.status, "status"),
    ...differences(step.body(known), body),
    ...differences(step.replayed === true, response.headers[replayed] === "true", replayed)
  ]
  const mark = step.replayed === true ? paint("dim", "\n  Idempotency-Replayed: true") : ""
  const status = paint(found.length > 0 ? "red" : "green", `→ ${response.status}`)
  yield* print(`${status}${mark}\n  ${json(shortened(body))}`)
  if (found.length > 0) return yield* new WrongAnswer({ title: step.title, differences: found })
  return { ...known, ...step.learn?.(body, response.headers["x-request-id"] ?? "") }
})

const walkCommand = Effect.fnUntraced(function* (known: Known, step: Command, paint: Paint) {
  const args = step.command(known)
  yield* print(paint("cyan", `npm run -s operator -- ${args.map(quoted).join(" ")}`))
  const { err, out, status } = yield* (yield* Operator)(args)
  const said = `${out}${err}`.trim()
  const found = [
    ...differences(step.isRefused === true, status !== 0, "refused"),
    ...step.says(known).flatMap((pattern) => differences(pattern, said, "output"))
  ]
  yield* print(`${paint(found.length > 0 ? "red" : "green", `→ ${status}`)}\n${indented(said)}`)
  if (found.length > 0) return yield* new WrongAnswer({ title: step.title, differences: found })
  return known
})

const walk = (paint: Paint) =>
  Effect.fnUntraced(function* (known: Known, step: Step | Command, index: number) {
    yield* print(`\n${paint("bold", `${index + 1}. ${step.title}`)}\n`)
    return "command" in step
      ? yield* walkCommand(known, step, paint)
      : yield* walkRequest(known, step, paint)
  })

/** Walks all steps as the tenant of `demo.json`, with an account number that no other run has. */
export const journey = Effect.fnUntraced(function* (
  demo: Demo,
  steps: ReadonlyArray<Step | Command>,
  paint: Paint
) {
  const number = yield* freshNumber
  const begin: Known = {
    demo,
    number,
    token: "",
    rivalToken: "",
    accountNumber: "",
    batchId: "",
    failedLines: [],
    requestId: ""
  }
  yield* Effect.reduce(steps, () => begin, walk(paint))
  yield* Console.log(`\n${paint("green", `All ${steps.length} answers are as the contract says.`)}`)
})
