/** The contract of every storage port, run on its memory layer. */
import { Layer } from "effect"
import { layerMemory as accounts } from "../src/ports/memory/Accounts.ts"
import { layerMemory as tokenBuckets } from "../src/ports/memory/TokenBuckets.ts"
import { layerMemory as apiKeys } from "../src/ports/memory/ApiKeys.ts"
import { layerMemory as auditLog } from "../src/ports/memory/AuditLog.ts"
import { layerMemory as batches } from "../src/ports/memory/Batches.ts"
import { layerMemory as boardSessions } from "../src/ports/memory/BoardSessions.ts"
import { layerMemory as changes } from "../src/ports/memory/SupplierChanges.ts"
import { layerMemory as checks } from "../src/ports/memory/Checks.ts"
import { layerMemory as erasures } from "../src/ports/memory/Erasures.ts"
import { layerMemory as eventLog } from "../src/ports/memory/EventLog.ts"
import { layerMemory as forecasts } from "../src/ports/memory/Forecasts.ts"
import { layerMemory as idempotencyKeys } from "../src/ports/memory/IdempotencyKeys.ts"
import { layerMemory as importProcesses } from "../src/ports/memory/ImportProcesses.ts"
import { layerMemory as configuration } from "../src/ports/memory/Configuration.ts"
import { layerMemory as webhooks } from "../src/ports/memory/Webhooks.ts"
import { webhooksContract } from "../testing/WebhooksContract.ts"
import { layerMemory as summaries } from "../src/ports/memory/SupplierSummaries.ts"
import { layerMemory as migrations } from "../src/ports/memory/Migrations.ts"
import { layerMemory as importSearch } from "../src/ports/memory/ImportSearch.ts"
import { auditSearchContract } from "../testing/AuditSearchContract.ts"
import { importSearchContract } from "../testing/ImportSearchContract.ts"
import { migrationsContract } from "../testing/MigrationsContract.ts"
import { supplierSummariesContract } from "../testing/SupplierSummariesContract.ts"
import { tokenBucketsContract } from "../testing/TokenBucketsContract.ts"
import { apiKeysContract } from "../testing/ApiKeysContract.ts"
import { boardSessionsContract } from "../testing/BoardSessionsContract.ts"
import { supplierChangesContract } from "../testing/SupplierChangesContract.ts"
import { batchWorkContract } from "../testing/BatchWorkContract.ts"
import { batchesContract } from "../testing/BatchesContract.ts"
import { auditLogContract } from "../testing/AuditLogContract.ts"
import { erasuresContract } from "../testing/ErasuresContract.ts"
import { checksContract } from "../testing/ChecksContract.ts"
import { eventLogContract } from "../testing/EventLogContract.ts"
import { forecastsContract } from "../testing/ForecastsContract.ts"
import { refusedLinesContract } from "../testing/RefusedLinesContract.ts"
import { newImportsContract } from "../testing/NewImportsContract.ts"
import { importProcessesContract } from "../testing/ImportProcessesContract.ts"
import { operatorAuditContract } from "../testing/OperatorAuditContract.ts"
import { layerMemory as sandbox } from "../src/ports/memory/Sandbox.ts"
import { sandboxContract } from "../testing/SandboxContract.ts"
import { configurationContract } from "../testing/ConfigurationContract.ts"

const storage = Layer.mergeAll(
  importProcesses,
  importSearch,
  auditLog,
  configuration,
  apiKeys,
  tokenBuckets
)

importProcessesContract("in memory", storage)
auditLogContract("in memory", storage)
configurationContract("in memory", storage)
apiKeysContract("in memory", storage)
tokenBucketsContract("in memory", storage)
operatorAuditContract("in memory", Layer.mergeAll(webhooks, storage))
forecastsContract("in memory", Layer.mergeAll(storage, forecasts))
boardSessionsContract("in memory", Layer.mergeAll(boardSessions, storage))
supplierSummariesContract("in memory", Layer.mergeAll(storage, summaries, erasures))
migrationsContract("in memory", Layer.mergeAll(storage, summaries, migrations))
auditSearchContract("in memory", storage)
importSearchContract(
  "in memory",
  Layer.mergeAll(storage, accounts, erasures, summaries, importSearch)
)

const batchPorts = Layer.mergeAll(batches, idempotencyKeys, storage)
batchesContract("in memory", batchPorts)
supplierChangesContract("in memory", Layer.mergeAll(batchPorts, summaries, changes))
batchWorkContract("in memory", batchPorts)
refusedLinesContract("in memory", Layer.mergeAll(batchPorts, erasures, migrations, summaries))
newImportsContract("in memory", Layer.mergeAll(batchPorts, accounts))
eventLogContract("in memory", Layer.mergeAll(batchPorts, eventLog))
erasuresContract("in memory", Layer.mergeAll(batchPorts, accounts, erasures, eventLog))
sandboxContract("in memory", Layer.mergeAll(batchPorts, accounts, eventLog, summaries, sandbox))
webhooksContract("in memory", Layer.mergeAll(storage, eventLog, webhooks))
checksContract("in memory", Layer.mergeAll(batchPorts, accounts, checks, eventLog))
