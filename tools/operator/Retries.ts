/**
 * Retries failed imports by a batch of PROCESS on behalf of the operator, whom the log names. It
 * takes the imports that `import list --failed` shows. The filter of batches differs: it also takes
 * those that were staged again, and none whose attempt was interrupted.
 * Source: docs/contract/operator.md#imports.
 */
import * as Batch from "@data-import/domain/batches/Batch"
import { failedImports, processImports } from "@data-import/domain/batches/StartedBatches"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Batches } from "@data-import/domain/batches/Batches"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { inEnglish, say } from "@data-import/terminal/Answer"
import { operatorFor } from "./Caller.ts"
import { number, supplier } from "./ImportArguments.ts"
import { noSupplier, supplierMeant } from "./Mode.ts"
import { asText } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const tooMany = {
  batches: "The organisation has too many unfinished batches.",
  lines: "The organisation has too much in unfinished batches.",
  stored: "The organisation's batches store more bytes than they may until lines are deleted."
}

/** A batch would report the erasure only in its line, which has the number. */
const refuseErased = Effect.fnUntraced(function* (key: ImportKey) {
  const imports = yield* ImportProcesses
  const found = yield* imports.find(key)
  if (Option.isSome(found) && found.value.erased) {
    const label = `${wireCode(key.import_supplier)} ${key.external_account_number}`
    return yield* new Refused({ why: `Cannot retry ${label}: its data was erased.` })
  }
})

export const retry = Command.make(
  "retry",
  {
    supplier,
    number: number.pipe(Argument.optional),
    team: Flag.String("team").pipe(
      Flag.withDescription("The operations team that gets the accounts"),
      asText(128)
    ),
    code: Flag.String("code").pipe(
      Flag.withDescription("Without a number: only those that failed with this code"),
      asText(128),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ code, number, supplier: named, team }) {
    const configuration = yield* Configuration
    const supplier = yield* supplierMeant(named)
    const owner = yield* configuration.supplier(supplier)
    if (Option.isNone(owner)) return yield* noSupplier(supplier)
    if (!(yield* configuration.hasTeam(team))) {
      return yield* new Refused({ why: `There is no team ${team}.` })
    }
    if (Option.isSome(number)) {
      yield* refuseErased({ import_supplier: supplier, external_account_number: number.value })
    }
    const caller = yield* operatorFor(owner.value.organisation)
    const at = yield* DateTime.now
    const numbers = Option.isSome(number)
      ? [number.value]
      : yield* failedImports(
          yield* ImportProcesses,
          supplier,
          Option.isSome(code) ? { code: code.value } : {},
          at
        )
    const wanted = {
      id: Batch.BatchId.make(crypto.randomUUID()),
      settings: {
        ...Batch.defaultSettings,
        supplier,
        operation: "PROCESS" as const,
        operationsTeam: team,
        name: "Retry by the operator"
      },
      caller,
      at
    }
    const { counts, id } = yield* processImports(yield* Batches, wanted, numbers).pipe(
      Effect.catchTags({
        // Nobody else knows the batch.
        OtherLines: Effect.die,
        BatchLimitExceeded: ({ of }) => new Refused({ why: tooMany[of] }),
        StorageLimitExceeded: () => new Refused({ why: tooMany.stored })
      })
    )
    yield* say(
      { batch_id: id, imports: counts.received },
      counts.received === 0
        ? "No import has failed."
        : `${inEnglish(counts.received)} imports are processed again: operator batch show ${id}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Process an import again, or all that import list --failed shows"),
  Command.withExamples([
    {
      command: 'operator import retry ACME_LEGACY --team "Migration Team North"',
      description: "Process all that failed"
    }
  ])
)
