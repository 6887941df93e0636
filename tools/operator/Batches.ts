/**
 * Commands about batches: their state, and pause, resume and cancel for the operator.
 * Source: docs/contract/operator.md#batches.
 */
import { bodies, problemsLimit } from "@data-import/domain/batches/BatchManagement"
import * as Batch from "@data-import/domain/batches/Batch"
import { BatchBody } from "@data-import/domain/batches/BatchBody"
import { clearedLines } from "@data-import/domain/batches/Problems"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { type AuditAction, AuditLog } from "@data-import/domain/audit/AuditLog"
import { Batches } from "@data-import/domain/batches/Batches"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { DateTime, Effect, Option, type Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { say } from "@data-import/terminal/Answer"
import { batchesText, batchText, problemsText, stateText } from "@data-import/terminal/BatchText"
import { operatorFor } from "./Caller.ts"
import { noSupplier, supplierMeant } from "./Mode.ts"
import { asSupplierCode } from "./Parameter.ts"
import { asBatchId, pageSize } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const encode = Schema.encodeSync(BatchBody)

/** A batch as it is answered, and its owner. */
type Description = typeof BatchBody.Encoded & { readonly organisation: string }

/** Describes batches, all at this time. */
const describing = Effect.gen(function* () {
  const bodyOf = yield* bodies({ batches: yield* Batches })
  return (batch: Batch.Batch): Description => ({
    organisation: batch.organisation,
    ...encode(bodyOf(batch))
  })
})

const findBatch = Effect.fnUntraced(function* (id: Batch.BatchId) {
  const batches = yield* Batches
  const found = yield* batches.findOfAny(id)
  return Option.isSome(found)
    ? found.value
    : yield* new Refused({ why: `There is no batch ${id}.` })
})

const listAll = Command.make(
  "list",
  {
    supplier: Argument.String("supplier").pipe(
      Argument.withDescription("Only batches of this import supplier"),
      asSupplierCode,
      Argument.optional
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("Those that have ended, too"),
      Flag.withDefault(false)
    ),
    limit: pageSize,
    after: Flag.String("after").pipe(
      Flag.withDescription("Only batches that are older than this one"),
      asBatchId,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ after, all, limit, supplier }) {
    const batches = yield* Batches
    const configuration = yield* Configuration
    const meant = Option.isSome(supplier) ? yield* supplierMeant(supplier.value) : null
    if (meant !== null && Option.isNone(yield* configuration.supplier(meant))) {
      return yield* noSupplier(meant)
    }
    if (Option.isSome(after)) yield* findBatch(after.value)
    const found = yield* batches.list({
      supplier: meant,
      isUnfinished: !all,
      after: Option.getOrNull(after),
      limit: limit + 1
    })
    const entries = found.slice(0, limit).map(yield* describing)
    const hasMore = found.length > limit
    yield* say(entries, batchesText(entries, { hasMore, beside: ["organisation"] }))
  }, onStorage)
).pipe(
  Command.withDescription("List the unfinished batches of all organisations, newest first"),
  Command.withExamples([
    {
      command: "operator batch list ACME_LEGACY --all",
      description: "List all batches of a supplier"
    }
  ])
)

const id = Argument.String("batch-id").pipe(
  Argument.withDescription("The id of the batch, as batch list prints it"),
  asBatchId
)

/** The most frequent failures of a batch, as the problems endpoint answers them. */
const problemsOf = Effect.fnUntraced(function* (id: Batch.BatchId) {
  const batches = yield* Batches
  const found = yield* batches.problems({ id, limit: problemsLimit })
  const cleared = clearedLines(found)
  return found.groups.map(({ attr, code, examples, lines }, index) => ({
    code,
    attr,
    lines,
    cleared_lines: cleared[index] ?? 0,
    examples: examples.map(({ detail, externalAccountNumber, line }) => ({
      line,
      external_account_number: externalAccountNumber,
      detail
    }))
  }))
})

/** The problems have examples of failed lines, which are personal data. */
const recordRead = Effect.fnUntraced(function* ({ organisation, settings }: Batch.Batch) {
  const auditLog = yield* AuditLog
  yield* auditLog.recordRead({
    key: { import_supplier: settings.supplier, external_account_number: null },
    action: "read_batch",
    caller: yield* operatorFor(organisation),
    at: yield* DateTime.now
  })
})

const show = Command.make(
  "show",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const batch = yield* findBatch(id)
    const description = (yield* describing)(batch)
    yield* recordRead(batch)
    const problems = yield* problemsOf(id)
    const text = [batchText(description), ...problemsText(problems)].join("\n\n")
    yield* say({ ...description, problems }, text)
  }, onStorage)
).pipe(
  Command.withDescription("Show how a batch stands, and why its lines have failed"),
  Command.withExamples([
    {
      command: "operator batch show 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "Show a batch and its problems"
    }
  ])
)

type Decide = (
  at: DateTime.Utc,
  caller: Caller
) => (batch: Batch.Batch) => Result.Result<Batch.Batch, Batch.StateConflict>

interface Change {
  readonly action: AuditAction
  readonly decide: Decide
  readonly description: string
}

const changing = (name: string, { action, decide, description }: Change) =>
  Command.make(
    name,
    { id },
    Effect.fnUntraced(function* ({ id }) {
      const batches = yield* Batches
      const { organisation } = yield* findBatch(id)
      const at = yield* DateTime.now
      const caller = yield* operatorFor(organisation)
      const changed = yield* Effect.catchTags(
        batches.change({ id, decide: decide(at, caller), action, caller, at }),
        {
          StateConflict: ({ state }) =>
            new Refused({ why: `Cannot ${name} ${id}: it is ${state}.` }),
          NotFound: () => new Refused({ why: `There is no batch ${id}.` }),
          ReservationLost: Effect.die
        }
      )
      const after = (yield* describing)(changed)
      yield* say(after, stateText(after))
    }, onStorage)
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      {
        command: `operator batch ${name} 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10`,
        description: "By the id of the batch"
      }
    ])
  )

const pause = changing("pause", {
  action: "pause_batch",
  decide: () => (batch) => Batch.pause(batch, "OPERATOR"),
  description: "Pause a started batch, whoever else pauses it; lines in hand end"
})

const resume = changing("resume", {
  action: "resume_batch",
  decide:
    (_, { apiKey }) =>
    (batch) =>
      Batch.resume(batch, ["OPERATOR"], apiKey),
  description: "Lift the operator's pause; other reasons to pause stay"
})

const cancel = changing("cancel", {
  action: "cancel_batch",
  decide: (at) => (batch) => Batch.cancel(batch, at),
  description: "Cancel a batch for good; what was done stays"
})

export const batch = Command.make("batch").pipe(
  Command.withDescription("Batches"),
  Command.withSubcommands([listAll, show, pause, resume, cancel])
)
