/** The begin and end of a request, and its record. */
import type { KeyedRequest } from "@data-import/domain/idempotency/IdempotencyKey"
import {
  ApiKeyId,
  type OrganisationName,
  RequestId
} from "@data-import/domain/suppliers/Organisation"
import { instantLine, withoutIdentifiers } from "./Output.ts"
import type { Answer, Instance, LineStep, Order, SentRequest, unanswered } from "./Request.ts"
import type { World } from "./World.ts"

export const log = (world: World, line: string): void => {
  const { identifiers, log: lines, model, steps, time } = world
  const text = withoutIdentifiers(`#${steps} ${instantLine(time.now())} ${line}`, identifiers)
  const expected = model?.[lines.length]
  lines.push(text)
  if (model !== null && text !== expected) {
    world.difference ??= `found ${text}\nexpected ${expected ?? "nothing"}`
  }
}

/** Ends the run if it differs from the model. */
export const checkModel = ({ difference, modelChecks }: World): void =>
  modelChecks.that(difference === null, () => difference ?? "")

export const meet = ({ outcomes: met }: World, what: string): void => {
  met.set(what, (met.get(what) ?? 0) + 1)
}

interface Beginning {
  readonly order: Order
  readonly organisation: OrganisationName
  readonly keyed: KeyedRequest | null
  readonly instance: Instance
  readonly slow: boolean
  readonly repeats?: SentRequest | null
  readonly line?: LineStep | null
}

/** A request that runs from now on. */
export const begin = (world: World, beginning: Beginning): SentRequest => {
  const { instance, keyed, line = null, order, organisation, repeats = null, slow } = beginning
  const id = world.requests.length + 1
  const asked: SentRequest = {
    id,
    order,
    caller: {
      organisation,
      apiKey: ApiKeyId.make(`key-of-${organisation}`),
      scopes: ["import:read", "import:write", "import:revert"],
      requestId: RequestId.make(`r${id}`)
    },
    keyed,
    instance,
    slow,
    frozenUntil: 0,
    at: world.time.now() + instance.skew,
    step: world.steps,
    repeats,
    line,
    calls: [],
    answer: null,
    ended: null
  }
  world.requests.push(asked)
  world.running.add(asked)
  world.events.push({ what: "asked", asked })
  return asked
}

export const end = (world: World, asked: SentRequest, answer: Answer | typeof unanswered): void => {
  asked.answer = answer
  asked.ended = { at: world.time.now() + asked.instance.skew, step: world.steps }
  world.running.delete(asked)
  world.events.push({ what: "ended", asked })
}
