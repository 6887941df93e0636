/** Compares how the lines of a batch ended with an undisturbed run, and with what is stored. */
import { Duration, Effect, Schedule, Schema } from "effect"
import { get } from "@data-import/domain/testing/wire"
import { rowsOf } from "@data-import/postgres/connection/Database"
import { System } from "@data-import/testbed/System"
import { textAt } from "@data-import/testbed/Client"
import type { AcknowledgedWrites } from "./AcknowledgedWrites.ts"
import type { BatchClient } from "./BatchClient.ts"
import type { SentLine } from "./BatchLines.ts"
import type { Findings } from "./Findings.ts"

const leftRows = rowsOf(Schema.Struct({ keys: Schema.Int, takes: Schema.Int }))

const left = Effect.fnUntraced(function* ({ id }: BatchClient) {
  const { run, sql } = (yield* System).database
  const [row] = yield* run(
    leftRows(sql`
      select
        (select count(*)::int from idempotency_keys
          where key like ${`_batch ${id} %`} and answer is not null) as keys,
        (select count(*)::int from batch_takes where batch = ${id}) as takes`)
  )
  return row ?? { keys: 0, takes: 0 }
})

/**
 * Checks what an ended batch leaves behind. A worker that was frozen needs time to notice the end.
 * A key that it could no longer free stays, without an answer, as long as the lines.
 */
const checkLeftovers = Effect.fnUntraced(function* (findings: Findings, batch: BatchClient) {
  const isLeft = Effect.map(left(batch), ({ keys, takes }) => keys + takes > 0)
  const pauses = Schedule.spaced(Duration.millis(200)).pipe(Schedule.upTo({ times: 50 }))
  if (!(yield* Effect.repeat(isLeft, { while: (is) => is, schedule: pauses }))) return
  const { keys, takes } = yield* left(batch)
  findings.add("halfMade", `the batch left ${keys} keys and ${takes} takes`)
})

/**
 * Checks that every line has ended once, with the expected outcome. The accounts of lines become
 * acknowledged writes. Returns how many accounts the lines made.
 */
export const verifyBatch = Effect.fnUntraced(function* (
  batch: BatchClient,
  lines: ReadonlyArray<SentLine>,
  writes: AcknowledgedWrites,
  findings: Findings
) {
  const results = yield* batch.results
  if (results.length < lines.length) {
    findings.add("lost", `${lines.length - results.length} of ${lines.length} results`)
  }
  if (results.length > lines.length) {
    findings.add("doubled", `${results.length - lines.length} results of ${lines.length} lines`)
  }
  let accounts = 0
  for (const [index, line] of lines.entries()) {
    const result = results[index]
    const outcome = textAt(result, "outcome")
    const label = `line ${index + 1} of ${batch.id}`
    if (get(result, "line") !== index + 1) findings.add("lost", `${label} has no result`)
    const code = outcome === "FAILED" ? textAt(get(result, "error"), "code") : null
    if (outcome !== line.outcome || code !== line.code) {
      const expected = `${line.outcome} ${line.code ?? ""}`
      findings.add("wrong", `${label} is ${outcome} ${code ?? ""}, and not ${expected}`)
    }
    if (line.account === null || outcome !== "SUCCEEDED") continue
    accounts++
    const entry = writes.of(line.account.number)
    entry.processed = true
    writes.staged(entry, line.account.marker)
    writes.imported(entry, textAt(result, "kraken_account_number"))
  }
  yield* checkLeftovers(findings, batch)
  return accounts
})
