/** Compares how the lines of a batch ended with an undisturbed run, and with what is stored. */
import { Effect, Schema } from "effect"
import { get } from "@data-import/domain/testing/wire"
import { rowsOf } from "@data-import/postgres/connection/Database"
import { System } from "@data-import/testbed/System"
import { textAt } from "@data-import/testbed/Client"
import type { AcknowledgedWrites } from "./AcknowledgedWrites.ts"
import type { BatchClient } from "./BatchClient.ts"
import type { SentLine } from "./BatchLines.ts"
import type { Findings } from "./Findings.ts"

const leftRows = rowsOf(Schema.Struct({ keys: Schema.Int, takes: Schema.Int }))

/** What a batch that has ended leaves of its work. */
const checkLeftovers = Effect.fnUntraced(function* (findings: Findings, { id }: BatchClient) {
  const { run, sql } = (yield* System).database
  const [left] = yield* run(
    leftRows(sql`
      select
        (select count(*)::int from idempotency_keys where key like ${`_batch ${id} %`}) as keys,
        (select count(*)::int from batch_takes where batch = ${id}) as takes`)
  )
  if (left !== undefined && left.keys + left.takes > 0) {
    findings.add("halfMade", `the batch left ${left.keys} keys and ${left.takes} takes`)
  }
})

/**
 * Every line has ended once, and as it should. What lines made becomes an acknowledged write.
 * Returns how many accounts they made.
 */
export const verifyBatch = Effect.fnUntraced(function* (
  batch: BatchClient,
  lines: ReadonlyArray<SentLine>,
  writes: AcknowledgedWrites,
  findings: Findings,
  mayBeCancelled = false
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
    if (mayBeCancelled && outcome === "CANCELLED") continue
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
