/** The contract of every storage port, run on its memory layer. */
import { Layer } from "effect"
import { layerMemory as allowances } from "../ports/memory/Allowances.ts"
import { layerMemory as apiKeys } from "../ports/memory/ApiKeys.ts"
import { layerMemory as history } from "../ports/memory/History.ts"
import { layerMemory as importProcesses } from "../ports/memory/ImportProcesses.ts"
import { layerMemory as operatorSetup } from "../ports/memory/OperatorSetup.ts"
import { allowancesContract } from "../testing/AllowancesContract.ts"
import { apiKeysContract } from "../testing/ApiKeysContract.ts"
import { historyContract } from "../testing/HistoryContract.ts"
import { importProcessesContract } from "../testing/ImportProcessesContract.ts"
import { operatorSetupContract } from "../testing/OperatorSetupContract.ts"

const storage = Layer.mergeAll(importProcesses, history, operatorSetup, apiKeys, allowances)

importProcessesContract("in memory", storage)
historyContract("in memory", storage)
operatorSetupContract("in memory", storage)
apiKeysContract("in memory", storage)
allowancesContract("in memory", storage)
