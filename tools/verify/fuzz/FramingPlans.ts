/**
 * Cases of attacks on the framing, for every operation with every method. Each hides a request that
 * would stage an account, with a unique number and a token with the right to do so. The hidden
 * request must have no effect and no answer.
 */
import {
  type FramingAttack,
  framingAttacks,
  isInDoubt,
  methods
} from "@data-import/server/testing/FramingAttacks"
import { put } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { statusPath } from "./Steps.ts"
import { type Expectation, get, type Plan, post, type Reply, type Request } from "./Case.ts"
import { operation, type Operation, withEachMethod } from "./Document.ts"
import { answers, both, outcomeOf } from "./Expectation.ts"
import { validAnswers, validBody, validRequest } from "./ValidRequests.ts"
import { hiddenSupplier, stagePath, supplier } from "./TenantNames.ts"
import { exchange, isToNextRequest, type Target } from "./Wire.ts"

const isLast = ({ headers }: Reply): boolean => headers["connection"] === "close"

/** A refusal of bytes that are not a request, or of a body whose end is unknown. */
const isRefusal = (reply: Reply): boolean => isLast(reply) && [400, 413].includes(reply.status)

const honestOutcomes = [
  ...validAnswers,
  "409 batch_line_differs",
  "400 parse_error",
  "401 not_authenticated",
  "405 method_not_allowed",
  "413 payload_too_large"
]

/** The allowed answers; for HEAD without a body, and so without a code. */
const honestTo = (method: string): Expectation =>
  answers(...honestOutcomes, ...(method === "HEAD" ? ["400", "401", "405", "413"] : []))

/** At most as many answers as requests, except for a refusal of what follows them. */
const noMoreAnswersThan =
  (most: number): Expectation =>
  (replies) => {
    const count = replies.length - (replies.length > 1 && replies.some(isRefusal) ? 1 : 0)
    return count <= most ? [] : [`${count} answers came to ${most} requests`]
  }

/** Checks the connection after the attack and a further request. */
const endsAsItShould = (attack: FramingAttack, replies: ReadonlyArray<Reply>) => {
  const own = replies.filter((reply) => !isToNextRequest(reply))
  const end = replies.findIndex(isLast)
  const isNextAnswered = own.length < replies.length
  const found: Array<string> = []
  if (own.length === 0) found.push("nobody answered the attack")
  if (end !== -1 && end < replies.length - 1) found.push("an answer came after the last one")
  if (end === -1 && !isNextAnswered) found.push("the next request on the connection got no answer")
  if (!isInDoubt(attack)) return found
  const last = own.at(-1)
  if (isNextAnswered) found.push("the connection lives on, and its framing is in doubt")
  if (last !== undefined && !isRefusal(last)) {
    found.push(`bytes whose framing is in doubt got ${outcomeOf(last)} on a connection to keep`)
  }
  return found
}

/** Every answer is right for the bytes, and there are not too many. */
export const honestly =
  (attack: FramingAttack, method: string): Expectation =>
  (replies) => {
    const own = replies.filter((reply) => !isToNextRequest(reply))
    const each = both(honestTo(method), noMoreAnswersThan(attack.requests ?? 1))
    return [...each(own), ...endsAsItShould(attack, replies)]
  }

const account = validBody(operation("stageAccount").id)

interface Attacked {
  readonly asked: Operation
  readonly attack: FramingAttack
  readonly method: string
  readonly isSplit: boolean
  /** Whether only the hidden request has a token. */
  readonly isAnonymous: boolean
}

const plan = ({ asked, attack, isAnonymous, isSplit, method }: Attacked): Plan => ({
  operation: asked.id,
  kind: "framing",
  name: `${attack.name}, ${method}, ${isSplit ? "split" : "whole"}`,
  steps: (mark) => {
    const number = `hidden ${mark}`
    // If every reader finds two requests in the bytes, the second may be answered.
    const isHidden = (attack.requests ?? 1) === 1
    const of = isHidden ? hiddenSupplier : supplier
    const named = put(account, "payload.external_account_number", number)
    const hidden = post(stagePath, put(named, "payload.import_supplier", of))
    const { body: _, ...valid } = validRequest(asked)
    const request: Request = {
      ...valid,
      method,
      ...(isAnonymous && { who: "nobody" }),
      malformed: true,
      smuggled: { attack: attack.name, request: hidden },
      ...(isSplit && { split: true })
    }
    const staged = {
      request: get(statusPath(of, number)),
      expect: answers("404 not_found", ...(isHidden ? [] : ["200"]))
    }
    return [{ request, expect: honestly(attack, method), next: () => [staged] }]
  }
})

const targets = withEachMethod(methods).map(({ method, operation }) => ({
  asked: operation,
  method
}))

/** Each attack at least once, and each operation with each method. */
export const framingCases: ReadonlyArray<Plan> = Array.from(
  { length: Math.max(targets.length, framingAttacks.length) },
  (_, index) => ({
    ...(targets[index % targets.length] as (typeof targets)[number]),
    attack: framingAttacks[index % framingAttacks.length] as FramingAttack,
    isSplit: index % 2 === 1,
    isAnonymous: index % 3 === 2
  })
).map(plan)

/** Any attack on the framing of any request. */
export const framingPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  {
    weight: 1,
    arbitrary: fc
      .record({
        attack: fc.constantFrom(...framingAttacks),
        target: fc.constantFrom(...targets),
        isSplit: fc.boolean(),
        isAnonymous: fc.boolean()
      })
      .map(({ target, ...attacked }) => plan({ ...target, ...attacked }))
  }
]

const hiddenList = operation("listAllAccountImports").template.replace(/\{\w+\}/, hiddenSupplier)

/** Everything that hidden requests have staged, even long after the answers. */
export const hiddenEffects = async (target: Target): Promise<ReadonlyArray<string>> => {
  const sending = { seconds: 10, from: "127.0.0.1", probe: false }
  const { replies } = await exchange(target, get(hiddenList), sending)
  const [text] = replies.map(({ body }) => body)
  return text === "[]" ? [] : [`hidden requests took effect: ${text}`]
}
