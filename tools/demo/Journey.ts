/** Walks the steps in order against the running system, and stops at the first wrong answer. */
import type { Demo } from "@data-import/local/DemoFile"
import { Clock, Console, Data, Effect, Random, Result } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { differences } from "./ResponsePattern.ts"
import { json, type Paint, withoutSecrets } from "./Output.ts"
import type { Known, Request, Step } from "./Step.ts"

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

const headersOf = ({ key, token }: Request): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { Authorization: `Token ${token}` }),
  ...(key !== undefined && { "Idempotency-Key": key })
})

const replayed = "idempotency-replayed"

const send = (request: Request, baseUrl: string) => {
  const { body, method, path } = request
  const identified = HttpClientRequest.make(method)(baseUrl + path).pipe(
    HttpClientRequest.setHeaders(headersOf(request))
  )
  return HttpClient.execute(
    body === undefined ? identified : HttpClientRequest.bodyJsonUnsafe(identified, body)
  ).pipe(Effect.mapError(() => new NobodyAnswers({ baseUrl })))
}

/** The body as JSON; as text where it is none, so that it can be shown. */
const bodyOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.text, (text): unknown =>
    Result.getOrElse(
      Result.try((): unknown => JSON.parse(text)),
      () => text
    )
  )

const shownRequest = (request: Request, paint: Paint) => {
  const { body, method, path } = request
  const lines = [paint("cyan", `${method} ${path}`)]
  for (const [name, value] of Object.entries(headersOf(request))) {
    lines.push(paint("dim", `  ${name}: ${value}`))
  }
  if (body !== undefined) lines.push(paint("dim", `  ${json(body)}`))
  return lines.join("\n")
}

const walk = (paint: Paint) =>
  Effect.fnUntraced(function* (known: Known, step: Step, index: number) {
    const print = (text: string) => Console.log(withoutSecrets(text))
    const request = step.request(known)
    yield* print(`\n${paint("bold", `${index + 1}. ${step.title}`)}\n`)
    yield* print(shownRequest(request, paint))
    const response = yield* send(request, known.demo.baseUrl)
    const body = yield* bodyOf(response)
    const found = [
      ...differences(step.status, response.status, "status"),
      ...differences(step.body(known), body),
      ...differences(step.replayed === true, response.headers[replayed] === "true", replayed)
    ]
    const mark = step.replayed === true ? paint("dim", "\n  Idempotency-Replayed: true") : ""
    const status = paint(found.length > 0 ? "red" : "green", `→ ${response.status}`)
    yield* print(`${status}${mark}\n  ${json(body)}`)
    if (found.length > 0) return yield* new WrongAnswer({ title: step.title, differences: found })
    return { ...known, ...step.learn?.(body) }
  })

/** Walks all steps as the tenant of `demo.json`, with an account number that no other run has. */
export const journey = Effect.fnUntraced(function* (
  demo: Demo,
  steps: ReadonlyArray<Step>,
  paint: Paint
) {
  const number = yield* freshNumber
  const begin: Known = { demo, number, token: "", rivalToken: "", accountNumber: "" }
  yield* Effect.reduce(steps, () => begin, walk(paint))
  yield* Console.log(`\n${paint("green", `All ${steps.length} answers are as the contract says.`)}`)
})
