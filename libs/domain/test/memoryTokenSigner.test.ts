import { layerMemory, layerMemoryWith } from "../testing/memory/TokenSigner.ts"
import { tokenSignerContract } from "../testing/TokenSignerContract.ts"

tokenSignerContract("in memory", { layer: layerMemory, stranger: layerMemoryWith("another key") })
