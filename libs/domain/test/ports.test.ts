/** The contract of every storage port, run on its memory layer. */
import { Layer } from "effect"
import { layerMemory as history } from "../ports/memory/History.ts"
import { layerMemory as importProcesses } from "../ports/memory/ImportProcesses.ts"
import { layerMemory as operatorSetup } from "../ports/memory/OperatorSetup.ts"
import { importProcessesContract } from "../testing/ImportProcessesContract.ts"

const storage = Layer.mergeAll(importProcesses, history, operatorSetup)

importProcessesContract("in memory", storage)
