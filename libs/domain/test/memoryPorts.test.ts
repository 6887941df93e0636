/** The contract of every storage port that has an adapter in memory, run on it. */
import { Layer } from "effect"
import { layerMemory as accounts } from "../testing/memory/Accounts.ts"
import { layerMemory as tokenBuckets } from "../testing/memory/TokenBuckets.ts"
import { layerMemory as apiKeys } from "../testing/memory/ApiKeys.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as batches } from "../testing/memory/Batches.ts"
import { layerMemory as eventLog } from "../testing/memory/EventLog.ts"
import { layerMemory as idempotencyKeys } from "../testing/memory/IdempotencyKeys.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as reverts } from "../testing/memory/Reverts.ts"
import { apiKeysContract } from "../testing/ApiKeysContract.ts"
import { tokenBucketsContract } from "../testing/TokenBucketsContract.ts"
import { batchWorkContract } from "../testing/BatchWorkContract.ts"
import { batchesContract } from "../testing/BatchesContract.ts"
import { auditLogContract } from "../testing/AuditLogContract.ts"
import { eventLogContract } from "../testing/EventLogContract.ts"
import { lineImportsContract } from "../testing/LineImportsContract.ts"
import { importProcessesContract } from "../testing/ImportProcessesContract.ts"
import { configurationContract } from "../testing/ConfigurationContract.ts"

const storage = Layer.mergeAll(importProcesses, auditLog, configuration, apiKeys, tokenBuckets)

importProcessesContract("in memory", storage)
auditLogContract("in memory", storage)
configurationContract("in memory", storage)
tokenBucketsContract("in memory", storage)
apiKeysContract("in memory", storage)

const batchPorts = Layer.mergeAll(batches, idempotencyKeys, storage)
batchesContract("in memory", batchPorts)
batchWorkContract("in memory", batchPorts)
lineImportsContract("in memory", Layer.mergeAll(batchPorts, accounts, reverts))
eventLogContract("in memory", Layer.mergeAll(batchPorts, eventLog))
