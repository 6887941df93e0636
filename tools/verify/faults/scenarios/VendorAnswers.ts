/**
 * A payment vendor that misbehaves in every way that the simulator knows. Each way has its own
 * answer to the client. When the vendor is in trouble, the circuit breaker opens and the vendor is
 * not called for a while. Requests to the other vendor, and requests without a vendor, are not
 * affected.
 */
import { Effect } from "effect"
import * as Client from "@data-import/testbed/Client"
import type { Findings } from "../Findings.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds, settle, startWorkload } from "../Scenario.ts"
import * as Session from "../Session.ts"
import { process, stage, type Work } from "../Work.ts"
import { System } from "@data-import/testbed/System"

interface Expected {
  readonly status: number
  readonly code: string
  /** Whether repeated answers of this kind open the circuit breaker. */
  readonly opens: boolean
}

const rejected: Expected = {
  status: 400,
  code: "payment_instruction_rejected_by_vendor",
  opens: false
}
const unreachable: Expected = { status: 400, code: "payment_vendor_unreachable", opens: false }
const unavailable: Expected = { status: 500, code: "payment_vendor_unavailable", opens: true }

/** An error for one reference, which says nothing about the vendor's health. */
const unexpected: Expected = { ...unavailable, opens: false }

/** The words that choose the simulated vendor's answer; the first ones are of different kinds. */
const answers: ReadonlyArray<readonly [word: string, told: Expected]> = [
  ["fault_refused", rejected],
  ["fault_redirect", unreachable],
  ["fault_reset", unavailable],
  ["missing", rejected],
  ["inactive", rejected],
  ["fault_unauthorized", rejected],
  ["fault_forbidden", rejected],
  ["fault_wrongtype", rejected],
  ["slow", unavailable],
  ["down", unavailable],
  ["fault_429", unavailable],
  ["fault_500", unavailable],
  ["fault_garbage", unavailable],
  ["fault_unexpected", unexpected],
  ["fault_cut", unavailable],
  ["fault_truncated", unavailable],
  ["fault_huge", unexpected]
]

/** How many failures in a row open the circuit breaker. */
const inARow = 5

const check = (findings: Findings, label: string, told: Expected, answer: Client.Answer): void => {
  const code = Client.codeOf(answer)
  if (answer.status === told.status && code === told.code) return
  findings.add("wrong", `${label}: ${answer.status} ${code}, and not ${told.status} ${told.code}`)
}

const made: Expected = { status: 201, code: "", opens: false }

/** An account to which an instruction can be added. */
const imported = Effect.fnUntraced(function* (work: Work, number: string) {
  const entry = yield* stage(work, number, number)
  yield* process(work, number)
  return entry
})

/** Causes one kind of answer. Returns the recovery time if the circuit breaker opened. */
const injectFault = Effect.fnUntraced(function* (
  work: Work,
  [word, told]: (typeof answers)[number],
  index: number
) {
  const { vendorProxy } = yield* System
  const { findings, session, tenant, writes } = work
  const entry = yield* imported(work, `V-${index + 1}`)
  const other = yield* imported(work, `O-${index + 1}`)
  for (const { sent } of [entry, other]) sent.add("instruction")

  const references = Array.from({ length: inARow }, (_, index) => `pm_${word}_${index + 1}`)
  const struck = yield* Effect.forEach(
    references,
    (reference) => session.send(Requests.instruction(tenant, entry.number, { reference })),
    { concurrency: "unbounded" }
  )
  for (const answer of struck) check(findings, word, told, answer)

  const asked = vendorProxy.questions
  const sound = Requests.add(tenant, entry.number, "instruction")
  const next = yield* session.send(sound)
  check(findings, `the next after ${word}`, told.opens ? told : made, next)
  if (told.opens && vendorProxy.questions > asked) {
    findings.add("wrong", `the vendor is asked again after ${word}`)
  }
  const elsewhere = { vendor: "GOCARDLESS", type: "DIRECT_DEBIT" }
  const byOther = yield* session.send(Requests.instruction(tenant, other.number, elsewhere))
  check(findings, `the other vendor after ${word}`, made, byOther)
  writes.added(other, "instruction")

  const recovery = yield* seconds(
    Effect.map(session.settle(sound), ({ answer }) =>
      check(findings, `the vendor, well after ${word}`, made, answer)
    )
  )
  writes.added(entry, "instruction")
  return told.opens ? [recovery] : []
})

/** The circuit breaker is open for ten seconds, and then lets one probe through. */
const recoveryLimit = 12

export const vendorAnswers: Scenario = {
  name: "vendor-answers",
  about: `a payment vendor answers in ${answers.length} ways in which it should not`,
  short: { kills: 0, count: 3 },
  long: { kills: 0, count: answers.length },
  run: Effect.fnUntraced(function* ({ count }) {
    const additions = ["notes", "transactions", "statements"] as const
    const working = yield* startWorkload({ additions, writers: 4 })
    const { findings, tenant, traffic } = working
    const session = yield* Session.open(tenant, inARow)
    const chosen = answers.slice(0, count)
    const recoveries = yield* Effect.forEach(chosen, (each, index) =>
      injectFault({ findings, session, tenant, writes: traffic.writes }, each, index)
    )
    yield* traffic.finish
    const figures = [
      { name: "ways", value: chosen.length, unit: "" },
      { name: "others sent again", value: traffic.repeats(), unit: "times", atMost: 0 }
    ]
    const settled = yield* settle(working)
    return { ...settled, findings, recoveries: recoveries.flat(), recoveryLimit, figures }
  })
}
