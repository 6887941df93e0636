/**
 * Commands about batches: how they stand, and pause, resume and cancel for the operator.
 * Source: docs/contract/operator.md#batches.
 */
import { bodies, problemsLimit } from "@data-import/domain/batch-processing/BatchManagement"
import * as Batch from "@data-import/domain/batch/Batch"
import { BatchBody } from "@data-import/domain/batch/BatchBody"
import { clearedLines } from "@data-import/domain/batch/Problems"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { type AuditAction, AuditLog } from "@data-import/domain/ports/AuditLog"
import { Batches } from "@data-import/domain/ports/Batches"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { DateTime, Effect, Option, type Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { plain, say, table } from "@data-import/terminal/Answer"
import { operatorFor } from "./Caller.ts"
import { noSupplier, supplierMeant } from "./Mode.ts"
import { asBatchId, asSupplierCode, pageSize } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const encode = Schema.encodeSync(BatchBody)

/** A batch as it is answered, and whose it is. */
type Description = typeof BatchBody.Encoded & { readonly organisation: string }

/** Describes batches, all at this time. */
const describing = Effect.gen(function* () {
  const bodyOf = yield* bodies({ batches: yield* Batches })
  return (batch: Batch.Batch): Description => ({
    organisation: batch.organisation,
    ...encode(bodyOf(batch))
  })
})

const outcomes = ["received", "succeeded", "already", "failed", "cancelled", "remaining"] as const

const columns = [
  "batch_id",
  "organisation",
  "import_supplier",
  "operation",
  "name",
  "state",
  "paused_by",
  "waiting_for",
  ...outcomes,
  "lines_per_second",
  "created_at"
]

const row = ({ counts, name, paused_by, ...members }: Description) => ({
  ...members,
  ...counts,
  name: plain(name),
  paused_by: paused_by.length > 0 ? paused_by : null
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
    supplier: Flag.String("supplier").pipe(
      Flag.withDescription("Only batches of this supplier"),
      asSupplierCode,
      Flag.optional
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
    const last = found.length > limit ? entries.at(-1) : undefined
    const next = last === undefined ? "" : `\nThere are more: --after ${last.batch_id}`
    yield* say(entries, table(columns, entries.map(row)) + next)
  }, onStorage)
).pipe(
  Command.withDescription("List the unfinished batches of all organisations, newest first"),
  Command.withExamples([
    {
      command: "operator batch list --supplier ACME_LEGACY --all",
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

type Problem = Effect.Success<ReturnType<typeof problemsOf>>[number]

const problemColumns = ["lines", "cleared_lines", "code", "attr", "example_lines"]

const readable = (
  { batch_id, counts, ...members }: Description,
  problems: ReadonlyArray<Problem>
): string => {
  const line = ([name, value]: readonly [string, Schema.Json]) => {
    const text = Array.isArray(value) ? value.join(", ") : plain(value)
    return `${name.replaceAll("_", " ")}: ${text === null || text === "" ? "-" : text}`
  }
  const rows = problems.map(({ examples, ...problem }) => ({
    ...problem,
    example_lines: examples.map((example) => example.line)
  }))
  return [
    [`Batch ${batch_id}`, ...Object.entries(members).map(line)].join("\n"),
    ["counts", ...outcomes.map((outcome) => `${outcome}: ${counts[outcome]}`)].join("\n"),
    problems.length === 0
      ? "problems: 0"
      : `problems: ${problems.length}\n${table(problemColumns, rows)}`
  ].join("\n\n")
}

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
    yield* say({ ...description, problems }, readable(description, problems))
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
          ReservationLost: Effect.die
        }
      )
      const after = (yield* describing)(changed)
      const reasons = after.paused_by.length > 0 ? `, paused by ${after.paused_by.join(", ")}` : ""
      yield* say(after, `The batch ${id} is ${after.state}${reasons}.`)
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
