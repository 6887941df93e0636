/**
 * Commands about imports: show their states with the reasons, skip and unskip one, and retry failed
 * ones.
 * Source: docs/contract/operator.md#imports.
 */
import { importBody } from "@data-import/api/ImportBody"
import { attemptsOfImport, type ImportDetails } from "@data-import/domain/imports/ImportDetails"
import type { ImportKey, ImportState } from "@data-import/domain/imports/ImportProcess"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { DateTime, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { plain, say, table } from "@data-import/terminal/Answer"
import { importText } from "@data-import/terminal/ImportText"
import { operatorFor } from "./Caller.ts"
import { importArguments, supplier } from "./ImportArguments.ts"
import { importMeant, noSupplier, supplierMeant } from "./Mode.ts"
import { asExternalAccountNumber, asText } from "./Parameter.ts"
import { pageSize } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { retry } from "./Retries.ts"
import { revert } from "./ImportRevert.ts"
import { onStorage } from "./Storage.ts"

const organisationOf = Effect.fnUntraced(function* (code: SupplierCode) {
  const found = yield* (yield* Configuration).supplier(code)
  if (Option.isNone(found)) return yield* noSupplier(code)
  return found.value.organisation
})

/** The errors of attempts repeat what was staged, which is personal data. */
const recordRead = Effect.fnUntraced(function* (key: ImportKey) {
  const caller = yield* operatorFor(yield* organisationOf(key.import_supplier))
  const at = yield* DateTime.now
  yield* (yield* AuditLog).recordRead({ key, action: "read_import", caller, at })
})

const show = Command.make(
  "show",
  importArguments,
  Effect.fnUntraced(function* (named) {
    const imports = yield* ImportProcesses
    const key = yield* importMeant(named)
    const found = yield* imports.details(key, attemptsOfImport)
    if (Option.isNone(found)) {
      const label = `${named.import_supplier} ${named.external_account_number}`
      return yield* new Refused({ why: `Nothing is staged for ${label}.` })
    }
    yield* recordRead(key)
    const body = importBody(found.value, yield* DateTime.now)
    yield* say(body, importText(body))
  }, onStorage)
).pipe(
  Command.withDescription("Show where an import stands, and why its attempts failed"),
  Command.withExamples([
    { command: "operator import show ACME_LEGACY AL-0002", description: "Show one import" }
  ])
)

const listColumns = ["external_account_number", "state", "staged_at", "times_staged", "code"]

/** An import as a list shows it: with the code of its latest attempt, but without its errors. */
const entryOf = (details: ImportDetails, at: DateTime.Utc) => {
  const { attempts, external_account_number, staged_at, state, times_staged } = importBody(
    details,
    at
  )
  const last = attempts.at(-1)
  const code = last?.code ?? null
  return { external_account_number, state, staged_at, times_staged, code }
}

const listAll = Command.make(
  "list",
  {
    supplier,
    failed: Flag.Boolean("failed").pipe(
      Flag.withDescription("Only those in the state FAILED"),
      Flag.withDefault(false)
    ),
    code: Flag.String("code").pipe(
      Flag.withDescription("Only those in the state FAILED, with this code"),
      asText(128),
      Flag.optional
    ),
    limit: pageSize,
    after: Flag.String("after").pipe(
      Flag.withDescription("Only numbers behind this one"),
      asExternalAccountNumber,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ after, code, failed, limit, supplier: named }) {
    const supplier = yield* supplierMeant(named)
    yield* organisationOf(supplier)
    const at = yield* DateTime.now
    const filter = {
      ...(failed && { failed: true }),
      ...(Option.isSome(code) && { code: code.value })
    }
    const found = yield* Stream.runCollect(
      (yield* ImportProcesses).list({
        supplier,
        kind: "pending",
        after: Option.getOrNull(after),
        limit: limit + 1,
        detailed: { filter, details: "with attempts", at }
      })
    )
    const entries = found
      .slice(0, limit)
      .flatMap(({ details }) => (details === undefined ? [] : [entryOf(details, at)]))
    const last = found.length > limit ? entries.at(-1) : undefined
    const more =
      last === undefined ? "" : `\nThere are more: --after ${last.external_account_number}`
    const rows = entries.map((entry) => ({
      ...entry,
      external_account_number: plain(entry.external_account_number)
    }))
    yield* say(entries, table(listColumns, rows) + more)
  }, onStorage)
).pipe(
  Command.withDescription("List the imports of a supplier that have no account yet"),
  Command.withExamples([
    { command: "operator import list ACME_LEGACY --failed", description: "List those that failed" }
  ])
)

/** Why an import in this state cannot be changed. */
const reason = (found: ImportState | null): string => {
  switch (found?._tag) {
    case undefined:
      return "nothing is staged for it"
    case "Imported":
      return `it is imported, as ${found.accountNumber}`
    case "Erased":
      return "its data was erased"
    case "InProgress":
      return "it is being processed right now"
    case "Pending":
    case "Reverted":
    case "Skipped":
      return "its state changed meanwhile; try again"
  }
}

const setSkipped = (name: string, skipped: boolean, done: string) =>
  Command.make(
    name,
    importArguments,
    Effect.fnUntraced(function* (named) {
      const imports = yield* ImportProcesses
      const key = yield* importMeant(named)
      const outcome = yield* imports.setSkipped({ key, skipped, at: yield* DateTime.now })
      const label = `${named.import_supplier} ${named.external_account_number}`
      if (outcome._tag === "Refused") {
        return yield* new Refused({ why: `Cannot ${name} ${label}: ${reason(outcome.found)}.` })
      }
      yield* say({ ...named, skipped }, `${label} ${done}.`)
    }, onStorage)
  ).pipe(
    Command.withExamples([
      { command: `operator import ${name} ACME_LEGACY AL-0002`, description: "By its number" }
    ])
  )

const skip = setSkipped("skip", true, "is skipped").pipe(
  Command.withDescription("Leave a staged account out: it is neither staged nor processed again")
)

const unskip = setSkipped("unskip", false, "is pending").pipe(
  Command.withDescription("Take a skipped account in again")
)

export const importCommand = Command.make("import").pipe(
  Command.withDescription("Imports of a supplier"),
  Command.withSubcommands([show, listAll, retry, revert, skip, unskip])
)
