/** The contract of the accounts, run on their memory layer. */
import { Layer } from "effect"
import { layerMemory as accounts } from "../ports/memory/Accounts.ts"
import { layerMemory as history } from "../ports/memory/History.ts"
import { layerMemory as importProcesses } from "../ports/memory/ImportProcesses.ts"
import { layerMemory as operatorSetup } from "../ports/memory/OperatorSetup.ts"
import { accountsContract } from "../testing/AccountsContract.ts"

accountsContract("in memory", Layer.mergeAll(accounts, importProcesses, history, operatorSetup))
