/** Batches over the small migration in memory: settings, lines, and the programs that run lines. */
import { DateTime, Effect, Result } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import { Batches } from "../src/batches/Batches.ts"
import type { ResultEncoder } from "../src/batches/LineResult.ts"
import { type FaultPlan, noFaults } from "../testing/faults.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { putAll, type Wire } from "../testing/wire.ts"
import {
  demo,
  idempotentWrites,
  importRevert,
  key,
  programs,
  supplierCode,
  team
} from "./importPrograms.ts"
import { postImport } from "./postImportPrograms.ts"

/** Outcome, code, kind of answer, and whether there is an account. */
const encode: ResultEncoder = (_line, { accountNumber, answer, failure, outcome }) =>
  JSON.stringify([outcome, failure?.code ?? null, answer?._tag ?? null, accountNumber !== null])

export const settingsOf = (
  operation: Batch.BatchOperation,
  settings: Partial<Batch.BatchSettings> = {}
): Batch.BatchSettings => ({
  ...Batch.defaultSettings,
  supplier: supplierCode,
  operation,
  operationsTeam: team,
  ...settings
})

/** Each operation has a batch of its own. */
const idOf = (operation: Batch.BatchOperation) => {
  const place = Batch.BatchOperation.literals.indexOf(operation)
  return Batch.BatchId.make(`1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3${place}`)
}

export const batchOf = (
  operation: Batch.BatchOperation,
  settings: Partial<Batch.BatchSettings> = {}
): Batch.Batch => {
  const open = Batch.open({
    id: idOf(operation),
    organisation: demo.organisation,
    settings: settingsOf(operation, settings),
    createdAt: sampleTime
  })
  const received = Result.getOrThrow(Batch.receive(open, 100))
  const by = { at: DateTime.makeUnsafe(0), apiKey: demo.apiKey }
  return Result.getOrThrow(Batch.start(received, 100, by))
}

const encoder = new TextEncoder()

export const lineOf = (sent: unknown, line = 1, tries = 0) => ({
  line,
  tries,
  bytes: encoder.encode(typeof sent === "string" ? sent : JSON.stringify(sent)),
  externalAccountNumber: key.external_account_number,
  sourceLine: null
})

/** The programs that run lines, on ports with the faults of the plan. */
export const linePrograms = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  return {
    accountImport: yield* programs(plan),
    postImport: yield* postImport(plan),
    importRevert: yield* importRevert(plan),
    writes: yield* idempotentWrites(plan),
    encoderOf: () => encode
  }
})

/** A line of an account, which does not name its supplier. */
export const payload = (values: Wire = {}) => {
  const { import_supplier: _, ...rest } = putAll(domesticPayload(), values)
  return rest
}

/** The batch that `startBatch` makes. */
export const startedId = Batch.BatchId.make("1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d")

/** Creates the batch, sends these lines to it, and starts it. */
export const startBatch = Effect.fnUntraced(function* (
  settings: Batch.BatchSettings,
  sent: ReadonlyArray<readonly [number: string | null, body: unknown]>
) {
  const batches = yield* Batches
  const at = yield* DateTime.now
  const id = startedId
  yield* batches.create({ id, settings, limit: 20, caller: demo, at })
  const upload = yield* batches.beginUpload(id)
  const lines = sent.map(([externalAccountNumber, body]) => ({
    externalAccountNumber,
    bytes: encoder.encode(JSON.stringify(body))
  }))
  yield* batches.append({ id, apiKey: demo.apiKey, upload, from: 1, lines, at })
  const decide = (batch: Batch.Batch) =>
    Batch.start(batch, lines.length, { at, apiKey: demo.apiKey })
  yield* batches.change({ id, at, caller: demo, action: "start_batch", decide })
})
