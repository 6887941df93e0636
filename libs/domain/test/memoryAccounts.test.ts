/** The contracts of the accounts, of reverts and of idempotency keys, run on their memory layers. */
import { Layer } from "effect"
import { layerMemory as accounts } from "../testing/memory/Accounts.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as idempotencyKeys } from "../testing/memory/IdempotencyKeys.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as reverts } from "../testing/memory/Reverts.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { accountsContract } from "../testing/AccountsContract.ts"
import { idempotencyKeysContract } from "../testing/IdempotencyKeysContract.ts"
import { revertsContract } from "../testing/RevertsContract.ts"

const storage = Layer.mergeAll(
  accounts,
  importProcesses,
  reverts,
  auditLog,
  configuration,
  idempotencyKeys
)

accountsContract("in memory", storage)
idempotencyKeysContract("in memory", storage)
revertsContract("in memory", storage)
