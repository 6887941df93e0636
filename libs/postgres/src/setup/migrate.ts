/**
 * Migrates a database: runs the numbered migrations, each once and in order, in one transaction,
 * and then rebuilds audit chains, counts what is stored and builds indexes outside of it. Of
 * several concurrent runs, one migrates, and the others wait and find nothing to do. A statement
 * that waits for a lock blocks every later statement on that table. So it waits only for a short
 * time; then everything is rolled back and repeated after a pause.
 */
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, type Redacted, Schedule } from "effect"
import { Migrator, SqlError } from "effect/sql"
import { operatorSetup } from "../../migrations/0001_operator_setup.ts"
import { imports } from "../../migrations/0002_imports.ts"
import { accounts } from "../../migrations/0003_accounts.ts"
import { limits } from "../../migrations/0004_limits.ts"
import { auditChains } from "../../migrations/0005_audit_chains.ts"
import { roles } from "../../migrations/0006_roles.ts"
import { accountRevisions } from "../../migrations/0007_account_revisions.ts"
import { supplierSettings } from "../../migrations/0008_supplier_settings.ts"
import { idempotencyKeys } from "../../migrations/0009_idempotency_keys.ts"
import { noteDigests } from "../../migrations/0010_note_digests.ts"
import { accountFieldGrants } from "../../migrations/0011_account_field_grants.ts"
import { payloadSizes } from "../../migrations/0012_payload_sizes.ts"
import { batches } from "../../migrations/0013_batches.ts"
import { batchTakes } from "../../migrations/0014_batch_takes.ts"
import { accountReads } from "../../migrations/0015_account_reads.ts"
import { operatorAudit } from "../../migrations/0016_operator_audit.ts"
import { payloadHashes } from "../../migrations/0017_payload_hashes.ts"
import { failedImports } from "../../migrations/0018_failed_imports.ts"
import { events } from "../../migrations/0019_events.ts"
import { operatorImports } from "../../migrations/0020_operator_imports.ts"
import { cohorts } from "../../migrations/0021_cohorts.ts"
import { webhooks } from "../../migrations/0022_webhooks.ts"
import { importCounts } from "../../migrations/0023_import_counts.ts"
import { refusalWindows } from "../../migrations/0024_refusal_windows.ts"
import { payloadRetention } from "../../migrations/0025_payload_retention.ts"
import { erasableChains } from "../../migrations/0026_erasable_chains.ts"
import { erasure } from "../../migrations/0027_erasure.ts"
import { testOrganisations } from "../../migrations/0028_test_organisations.ts"
import { readableChoices } from "../../migrations/0029_readable_choices.ts"
import { countsAtOnce } from "../../migrations/0030_counts_at_once.ts"
import { transactionKeys } from "../../migrations/0031_transaction_keys.ts"
import { importHistory } from "../../migrations/0032_import_history.ts"
import { forecasts } from "../../migrations/0033_forecasts.ts"
import { boardSessions } from "../../migrations/0034_board_sessions.ts"
import { auditHeads } from "../../migrations/0035_audit_heads.ts"
import { checks } from "../../migrations/0036_checks.ts"
import { reopenedMigrations } from "../../migrations/0037_reopened_migrations.ts"
import { completedStatements } from "../../migrations/0038_completed_statements.ts"
import { refusedLines } from "../../migrations/0039_refused_lines.ts"
import { batchDryRuns } from "../../migrations/0040_batch_dry_runs.ts"
import { boardEntries } from "../../migrations/0041_board_entries.ts"
import { eventsByOrganisation } from "../../migrations/0042_events_by_organisation.ts"
import { waitingChunks } from "../../migrations/0043_waiting_chunks.ts"
import { slowWebhooks } from "../../migrations/0044_slow_webhooks.ts"
import { endedSessions } from "../../migrations/0045_ended_sessions.ts"
import { erasedNames } from "../../migrations/0046_erased_names.ts"
import { referredLines } from "../../migrations/0047_referred_lines.ts"
import { storedBytes } from "../../migrations/0048_stored_bytes.ts"
import { sandboxSlices } from "../../migrations/0049_sandbox_slices.ts"
import { keptAnswerBytes } from "../../migrations/0050_kept_answer_bytes.ts"
import { stagedAnew } from "../../migrations/0051_staged_anew.ts"
import { connectionTo } from "../connection/ConnectionUrl.ts"
import * as Positions from "../events/Positions.ts"
import * as ChainRemakes from "./ChainRemakes.ts"
import * as ImportCounts from "./ImportCounts.ts"
import * as IndexBuilds from "./IndexBuilds.ts"
import { sqlStateOf } from "../connection/SqlFailure.ts"

export const migrations = {
  "0001_operator_setup": operatorSetup,
  "0002_imports": imports,
  "0003_accounts": accounts,
  "0004_limits": limits,
  "0005_audit_chains": auditChains,
  "0006_roles": roles,
  "0007_account_revisions": accountRevisions,
  "0008_supplier_settings": supplierSettings,
  "0009_idempotency_keys": idempotencyKeys,
  "0010_note_digests": noteDigests,
  "0011_account_field_grants": accountFieldGrants,
  "0012_payload_sizes": payloadSizes,
  "0013_batches": batches,
  "0014_batch_takes": batchTakes,
  "0015_account_reads": accountReads,
  "0016_operator_audit": operatorAudit,
  "0017_payload_hashes": payloadHashes,
  "0018_failed_imports": failedImports,
  "0019_events": events,
  "0020_operator_imports": operatorImports,
  "0021_cohorts": cohorts,
  "0022_webhooks": webhooks,
  "0023_import_counts": importCounts,
  "0024_refusal_windows": refusalWindows,
  "0025_payload_retention": payloadRetention,
  "0026_erasable_chains": erasableChains,
  "0027_erasure": erasure,
  "0028_test_organisations": testOrganisations,
  "0029_readable_choices": readableChoices,
  "0030_counts_at_once": countsAtOnce,
  "0031_transaction_keys": transactionKeys,
  "0032_import_history": importHistory,
  "0033_forecasts": forecasts,
  "0034_board_sessions": boardSessions,
  "0035_audit_heads": auditHeads,
  "0036_checks": checks,
  "0037_reopened_migrations": reopenedMigrations,
  "0038_completed_statements": completedStatements,
  "0039_refused_lines": refusedLines,
  "0040_batch_dry_runs": batchDryRuns,
  "0041_board_entries": boardEntries,
  "0042_events_by_organisation": eventsByOrganisation,
  "0043_waiting_chunks": waitingChunks,
  "0044_slow_webhooks": slowWebhooks,
  "0045_ended_sessions": endedSessions,
  "0046_erased_names": erasedNames,
  "0047_referred_lines": referredLines,
  "0048_stored_bytes": storedBytes,
  "0049_sandbox_slices": sandboxSlices,
  "0050_kept_answer_bytes": keptAnswerBytes,
  "0051_staged_anew": stagedAnew
}

/** Another transaction held a lock for too long. The message says what to do. */
export class MigrationsBlocked extends Data.TaggedError("MigrationsBlocked")<{
  readonly what: string
  readonly patience: Duration.Duration
}> {
  override get message(): string {
    return (
      `${this.what} because another transaction held a lock for ${Duration.format(this.patience)}. ` +
      "Nothing was changed. End that transaction and migrate again."
    )
  }
}

/** Another migration built indexes for too long. */
export class IndexesBlocked extends Data.TaggedError("IndexesBlocked")<{
  readonly patience: Duration.Duration
}> {
  override get message(): string {
    return (
      `Another migration was still building indexes after ${Duration.format(this.patience)}. ` +
      "All else is done. Migrate again when that one has ended."
    )
  }
}

/** How long a statement waits for a lock while others may wait behind it. */
const lockTimeout = Duration.seconds(2)

/** During a pause the waiting statements run, and the blocking transaction may end. */
const pauses = (patience: Duration.Duration) =>
  Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("15 seconds")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: patience })
  )

const client = (url: Redacted.Redacted, startupParameters: Readonly<Record<string, string>>) =>
  PgClient.layer({
    ...connectionTo(url),
    applicationName: "data-import-migrate",
    maxConnections: 1,
    connectTimeout: Duration.seconds(5),
    startupParameters
  })

type Failure = Migrator.MigrationError | SqlError.SqlError

const gaveWay = (failure: Failure): boolean => {
  const error = failure._tag === "MigrationError" ? failure.cause : failure
  return SqlError.isSqlError(error) && /^(?:55P03|40P01)$/.test(sqlStateOf(error) ?? "")
}

const whatFailed = (failure: Failure): string =>
  failure._tag === "MigrationError" ? failure.message : "The migrations failed"

const applyMigrations = (url: Redacted.Redacted, patience: Duration.Duration) =>
  Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: "migrations" }).pipe(
    Effect.map((applied) => applied.map(([, name]) => name)),
    Effect.tapError((failure) =>
      gaveWay(failure)
        ? Effect.logWarning(`${whatFailed(failure)} because another transaction holds a lock`)
        : Effect.void
    ),
    Effect.retry({ while: gaveWay, schedule: pauses(patience) }),
    Effect.mapError((failure) =>
      gaveWay(failure) ? new MigrationsBlocked({ what: whatFailed(failure), patience }) : failure
    ),
    Effect.provide(client(url, { lock_timeout: String(Duration.toMillis(lockTimeout)) }))
  )

/** A build blocks no statement, so it needs no time limits. */
const withoutLimits = { lock_timeout: "0", statement_timeout: "0" }

const buildIndexes = (url: Redacted.Redacted, patience: Duration.Duration) =>
  ChainRemakes.remakeAll.pipe(
    Effect.andThen(ImportCounts.countAll),
    Effect.andThen(IndexBuilds.build),
    Effect.tap(Positions.nameOwners),
    Effect.provide(client(url, withoutLimits)),
    Effect.filterOrFail(
      (isDone) => isDone,
      () => new IndexesBlocked({ patience })
    ),
    Effect.retry({
      while: (failure) => failure._tag === "IndexesBlocked",
      schedule: pauses(patience)
    })
  )

/**
 * Migrates the database at `url` and returns the names of the newly applied migrations. `patience`
 * is how long blocked migrations are repeated, by default 5 minutes.
 */
export const migrate = (
  url: Redacted.Redacted,
  patience: Duration.Duration = Duration.minutes(5)
): Effect.Effect<ReadonlyArray<string>, Failure | MigrationsBlocked | IndexesBlocked> =>
  Effect.tap(applyMigrations(url, patience), () => buildIndexes(url, patience))
