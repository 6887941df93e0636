/**
 * The batch worker: runs lines with the programs of account-import and post-import. It has no
 * endpoints except for its health. Any number of these processes share the batches.
 */
import { Config, ConfigProvider, Context, Duration, Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { resultEncoderOf } from "@data-import/api/LineResultText"
import { makeBatchWorker } from "@data-import/domain/batches/BatchWorker"
import { following } from "@data-import/domain/batches/RehearsalFollowing"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import { makeAuditExport } from "@data-import/domain/audit/AuditExport"
import * as AccountImport from "@data-import/domain/imports/AccountImport"
import { reportLeases } from "@data-import/domain/imports/LeaseMetrics"
import * as ImportRevert from "@data-import/domain/imports/ImportRevert"
import { makePayloadUpkeep } from "@data-import/domain/imports/PayloadUpkeep"
import * as PostImport from "@data-import/domain/additions/PostImport"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { sealing } from "@data-import/domain/audit/Sealer"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { Batches } from "@data-import/domain/batches/Batches"
import { issuing } from "@data-import/domain/certificates/CertificateIssuing"
import { Certificates } from "@data-import/domain/certificates/Certificates"
import { CertificateSigner as CertificateSignerPort } from "@data-import/domain/certificates/CertificateSigner"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import * as Settings from "@data-import/domain/support/Settings"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import * as AuditHeads from "@data-import/documents/AuditHeads"
import * as DocumentStore from "@data-import/documents/DocumentStore"
import * as PaymentVendors from "@data-import/payments/PaymentVendors"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as SharedConfiguration from "@data-import/postgres/suppliers/SharedConfiguration"
import * as StoredAccounts from "@data-import/postgres/accounts/Accounts"
import * as StoredAuditLog from "@data-import/postgres/audit/AuditLog"
import * as StoredCertificates from "@data-import/postgres/certificates/Certificates"
import * as StoredSeals from "@data-import/postgres/audit/SealedAuditLog"
import * as StoredBatches from "@data-import/postgres/batches/Batches"
import * as StoredOutcomes from "@data-import/postgres/batches/RehearsalOutcomes"
import * as IdempotencyKeys from "@data-import/postgres/idempotency/IdempotencyKeys"
import * as Reverts from "@data-import/postgres/imports/Reverts"
import * as StoredImportProcesses from "@data-import/postgres/imports/ImportProcesses"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as CertificateSigner from "@data-import/server/auth/CertificateSigner"
import * as NodeHashing from "@data-import/server/Hashing"
import * as Service from "@data-import/server/lifecycle/Service"

const settings = Config.all({
  chunks: Settings.integer("BATCH_CHUNKS_AT_ONCE", { minimum: 1, maximum: 100 }).or(4),
  linesKeptFor: Settings.integer("BATCH_LINES_KEPT_DAYS", { minimum: 0, maximum: 3650 }).or(30),
  payloadsKeptFor: Settings.integer("PAYLOADS_KEPT_DAYS", { minimum: 0, maximum: 3650 }).or(90),
  exportsHeads: Settings.boolean("AUDIT_HEADS_EXPORT").or(false),
  certificateKeys: Settings.text("CERTIFICATE_KEYS_DIR").optional,
  drain: Service.shutdownGrace
})

/** Issues certificates, if there is a folder of keys. */
const certifying = Effect.fnUntraced(function* (folder: Option.Option<string>) {
  const certificates = yield* Certificates
  const { describe } = yield* Accounts
  if (Option.isNone(folder)) return []
  const signers = yield* Layer.build(CertificateSigner.layerAt(folder.value))
  const signer = Context.get(signers, CertificateSignerPort)
  return [issuing({ certificates, hashing: yield* Hashing, signer }, describe)]
})

const serving = Effect.gen(function* () {
  const { ready: database } = yield* Database
  const batches = yield* Batches
  const programs = {
    accountImport: yield* AccountImport.AccountImport,
    postImport: yield* PostImport.PostImport,
    importRevert: yield* ImportRevert.ImportRevert,
    writes: yield* IdempotentWrites.IdempotentWrites,
    encoderOf: resultEncoderOf
  }
  const { certificateKeys, chunks, drain, exportsHeads, linesKeptFor, payloadsKeptFor } =
    yield* settings
  const worker = makeBatchWorker(batches, programs, {
    chunks,
    drain,
    linesKeptFor: Duration.days(linesKeptFor)
  })
  const imports = yield* ImportProcesses
  const payloads = makePayloadUpkeep(imports, Duration.days(payloadsKeptFor))
  const sealed = yield* SealedAuditLog
  const exporter = makeAuditExport(sealed, yield* AuditHeadStore)
  const exporting = exportsHeads ? [exporter.run] : []
  const tasks = [
    yield* report,
    reportLeases(imports),
    worker.run,
    following(yield* RehearsalOutcomes),
    payloads.run,
    sealing(sealed)
  ]
  return {
    routes: [],
    dependencies: { database },
    warm: database,
    background: Effect.all([...tasks, ...exporting, ...(yield* certifying(certificateKeys))], {
      concurrency: "unbounded"
    })
  }
})

/** Lines of a dead worker are processed again within 10 seconds, also those with an attempt. */
const lease = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ LEASE: "6 seconds" }))

const storage = ServiceStorage.of(
  Layer.mergeAll(
    StoredAccounts.layer,
    StoredAuditLog.layer,
    StoredSeals.layer,
    StoredCertificates.layer,
    StoredBatches.layer,
    StoredOutcomes.layer,
    IdempotencyKeys.layer,
    StoredImportProcesses.layer,
    Reverts.layer,
    Configuration.layer
  )
)

/**
 * Settings: those of the server, the database, the documents, the vendors and the programs, and
 * BATCH_CHUNKS_AT_ONCE (4): how many chunks of lines it processes at once, each with its own
 * connection. BATCH_LINES_KEPT_DAYS (30): when the lines of an ended batch are deleted.
 * PAYLOADS_KEPT_DAYS (90): when the payload of an imported account is deleted. AUDIT_HEADS_EXPORT
 * (false): whether it exports the sealed audit log to the document store once a day.
 * CERTIFICATE_KEYS_DIR (unset): the private keys that sign certificates; without it none is issued.
 * On SIGTERM chunks in hand may end within SHUTDOWN_GRACE_SECONDS.
 */
export const layer = Service.layer("batch-worker", serving).pipe(
  Layer.provide([
    Layer.provide(AccountImport.layer, lease),
    PostImport.layer,
    ImportRevert.layer,
    IdempotentWrites.layer
  ]),
  Layer.provide(SharedConfiguration.layer),
  Layer.provide([
    storage,
    DocumentStore.layer,
    AuditHeads.layer,
    PaymentVendors.layer,
    NodeHashing.layer
  ]),
  Layer.provide(FetchHttpClient.layer)
)
