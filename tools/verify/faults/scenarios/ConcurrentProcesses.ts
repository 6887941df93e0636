/**
 * Many process requests at once for one import: one creates the account, and all others are refused
 * because it exists or is being created.
 */
import { Effect } from "effect"
import * as Client from "@data-import/testbed/Client"
import type { Findings } from "../Findings.ts"
import type { Entry } from "../AcknowledgedWrites.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import { begin, settle, stage } from "../Work.ts"

const atOnce = 64

const refusals = new Set([
  "account_import_process_in_progress",
  "account_import_process_already_imported"
])

const isRefusal = (answer: Client.Answer): boolean =>
  answer.status === 400 && refusals.has(Client.codeOf(answer))

/** The request got no database connection in time, and nothing happened. */
const isBusy = ({ retryAfter, status }: Client.Answer): boolean =>
  status === 503 && retryAfter !== null

/** One answer creates the account, and every answer that names an account names that one. */
const checkAnswers = (entry: Entry, answers: ReadonlyArray<Client.Answer>, findings: Findings) => {
  const made = answers.filter(({ status }) => status === 201)
  const accounts = new Set(answers.map(({ json }) => Client.textAt(json, "kraken_account_number")))
  accounts.delete("")
  if (made.length > 1 || accounts.size > 1) {
    findings.add("doubled", `${entry.number}: ${made.length} made, ${[...accounts].join(", ")}`)
  }
  if (made.length === 0) findings.add("wrong", `${entry.number}: nobody made the account`)
  for (const answer of answers) {
    if (answer.status === 201 || isRefusal(answer) || isBusy(answer)) continue
    findings.add("wrong", `${entry.number}: ${answer.status} ${Client.codeOf(answer)}`)
  }
  return made[0] === undefined ? "" : Client.textAt(made[0].json, "kraken_account_number")
}

export const onePair: Scenario = {
  name: "one-pair",
  about: `${atOnce} processes at once for each of a number of imports`,
  short: { kills: 0, count: 20 },
  long: { kills: 0, count: 500 },
  run: Effect.fnUntraced(function* ({ count }) {
    const work = yield* begin(atOnce)
    const { findings, session, tenant, writes } = work
    let busy = 0
    for (let pair = 1; pair <= count; pair++) {
      const entry = yield* stage(work, `P-${pair}`)
      entry.processed = true
      const answers = yield* Effect.forEach(
        Array.from({ length: atOnce }),
        () => session.send(Requests.process(tenant, entry.number)),
        { concurrency: "unbounded" }
      )
      busy += answers.filter(isBusy).length
      const account = checkAnswers(entry, answers, findings)
      if (account !== "") writes.imported(entry, account)
    }
    const figures = [
      { name: "pairs", value: count, unit: `with ${atOnce} processes each` },
      { name: "answered 503", value: busy, unit: "times", atMost: 0 }
    ]
    return { ...(yield* settle(work)), figures }
  })
}
