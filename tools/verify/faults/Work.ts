/** A tenant whose requests a scenario sends itself, and what it was told of them. */
import { Effect } from "effect"
import { codeOf, textAt } from "@data-import/testbed/Client"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import { AcknowledgedWrites } from "./AcknowledgedWrites.ts"
import { Findings } from "./Findings.ts"
import * as Requests from "./Requests.ts"
import * as Session from "./Session.ts"
import { verify } from "./Verification.ts"

export interface Work {
  readonly tenant: Tenant
  readonly session: Session.Session
  readonly writes: AcknowledgedWrites
  readonly findings: Findings
}

/** Work of a new tenant, on at most this many connections. */
export const begin = Effect.fnUntraced(function* (connections: number = 4) {
  const tenant = yield* (yield* System).freshTenant
  const session = yield* Session.open(tenant, connections)
  const work = { tenant, session, writes: new AcknowledgedWrites(), findings: new Findings() }
  return work satisfies Work
})

/** Stages a new account, which has to succeed. */
export const stage = Effect.fnUntraced(function* (
  { findings, session, tenant, writes }: Work,
  number: string,
  marker: string = "once"
) {
  const entry = writes.of(number)
  writes.staging(entry, marker)
  const { answer } = yield* session.settle(Requests.stage(tenant, number, marker))
  if (answer.status === 201) writes.staged(entry, marker)
  else findings.add("wrong", `${number}: staged ${answer.status} ${codeOf(answer)}`)
  return entry
})

/** Imports a staged account, which has to succeed. */
export const process = Effect.fnUntraced(function* (
  { findings, session, tenant, writes }: Work,
  number: string
) {
  const entry = writes.of(number)
  entry.processed = true
  const { answer } = yield* session.settle(Requests.process(tenant, number))
  if (answer.status === 201) writes.imported(entry, textAt(answer.json, "kraken_account_number"))
  else findings.add("wrong", `${number}: processed ${answer.status} ${codeOf(answer)}`)
})

/** Compares everything of the tenant with what was acknowledged. */
export const settle = Effect.fnUntraced(function* ({ findings, tenant, writes }: Work) {
  yield* verify(tenant, writes.entries, findings)
  return { acknowledged: writes.acknowledged, findings }
})
