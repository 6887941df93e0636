/**
 * The most expensive bodies, on many connections at once: each is answered, and none blocks the
 * other requests of its service. The kinds are sent one after the other, so that a pause can be
 * attributed.
 */
import { Effect } from "effect"
import * as Bodies from "@data-import/domain/testing/worstBodies"
import type * as Client from "@data-import/testbed/Client"
import { freePort } from "@data-import/testbed/Ports"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import { begin, process, stage } from "../Work.ts"
import { reconfigured } from "@data-import/testbed/System"

const connections = 16

/** The largest accepted body, less the parts around the abuse. */
const largest = 10 * 1024 * 1024 - 16 * 1024

const longestPauseMillis = 250

const metric = /^nodejs_eventloop_delay_max_seconds (\S+)$/m

/** The longest pause of a service, in milliseconds, since this was last read. */
const pausesOf = Effect.fnUntraced(function* (name: "gateway" | "account-import" | "post-import") {
  const port = yield* freePort
  yield* reconfigured(name, { METRICS_PORT: String(port) })
  const ask = Effect.promise(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    return Number(metric.exec(await answer.text())?.[1]) * 1_000
  })
  return { name, ask }
})

/** Whether the service works correctly, or has no memory left for another body. */
const isExpected = ({ status }: Client.Answer): boolean => status < 500 || status === 503

export const worstBodies: Scenario = {
  name: "worst-bodies",
  about: "the bodies that are most work, of 10 MiB each, on 16 connections at once",
  short: { kills: 0, count: 100 },
  long: { kills: 0, count: 10_000 },
  run: Effect.fnUntraced(function* ({ count }) {
    const services = yield* Effect.forEach(
      ["gateway", "account-import", "post-import"] as const,
      pausesOf
    )
    const work = yield* begin(connections)
    const { findings, session, tenant } = work
    const number = "W-1"
    yield* stage(work, number)
    yield* process(work, number)
    const key = { import_supplier: tenant.supplier, external_account_number: number }
    const size = Math.min(largest, count * 1_024)
    const bodies = Bodies.worstBodies(key, size)
    let answers = 0
    let longest = 0
    for (const { called, operation, text } of bodies) {
      yield* Effect.forEach(services, ({ ask }) => ask)
      const request = Requests.text(operation, text())
      const send = Effect.result(session.send(request))
      const results = yield* Effect.all(
        Array.from({ length: connections }, () => send),
        { concurrency: "unbounded" }
      )
      for (const result of results) {
        if (result._tag === "Failure") findings.add("wrong", `${operation}, ${called}: no answer`)
        else if (isExpected(result.success)) answers++
        else findings.add("wrong", `${operation}, ${called}: ${result.success.status}`)
      }
      for (const { ask, name } of services) {
        const pause = yield* ask
        longest = Math.max(longest, pause)
        if (pause > longestPauseMillis) {
          findings.add("wrong", `${operation}, ${called}: ${name} stood still for ${pause} ms`)
        }
      }
    }
    return {
      findings,
      figures: [
        { name: "bodies", value: bodies.length, unit: "", atLeast: 50 },
        { name: "answers", value: answers, unit: "" },
        { name: "longest pause", value: longest, unit: "ms", atMost: longestPauseMillis }
      ]
    }
  })
}
