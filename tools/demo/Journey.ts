/**
 * Walks the steps one after the other against the running system, and ends at the first wrong
 * answer.
 */
import type { Demo } from "@data-import/local/DemoFile"
import { Clock, Console, Data, Effect, Random, Result } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { differences } from "./Expected.ts"
import { json, type Paint, withoutSecrets } from "./Printed.ts"
import type { Known, Request, Step } from "./Step.ts"

/** Nothing answers where `demo.json` says. */
class NobodyAnswers extends Data.TaggedError("NobodyAnswers")<{
  readonly baseUrl: string
}> {}

/** An answer is not what the contract says. */
class WrongAnswer extends Data.TaggedError("WrongAnswer")<{
  readonly title: string
  readonly differences: ReadonlyArray<string>
}> {}

const freshNumber = Effect.gen(function* () {
  const digits = yield* Random.nextIntBetween(0, 46_656)
  const suffix = digits.toString(36).padStart(3, "0")
  return `DEMO-${yield* Clock.currentTimeMillis}-${suffix}`
})

const send = ({ body, method, path, token }: Request, baseUrl: string) => {
  const request = HttpClientRequest.make(method)(baseUrl + path)
  const identified =
    token === undefined
      ? request
      : HttpClientRequest.setHeader(request, "authorization", `Token ${token}`)
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

const shownRequest = ({ body, method, path, token }: Request, paint: Paint) => {
  const lines = [paint("cyan", `${method} ${path}`)]
  if (token !== undefined) lines.push(paint("dim", `  Authorization: Token ${token}`))
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
      ...differences(step.body(known), body)
    ]
    yield* print(
      `${paint(found.length > 0 ? "red" : "green", `→ ${response.status}`)}\n  ${json(body)}`
    )
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
