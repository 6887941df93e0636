import { layerMemory, layerMemoryWith } from "../src/ports/memory/TokenSigner.ts"
import { tokenSealContract } from "../testing/TokenSignerContract.ts"

tokenSealContract("in memory", { layer: layerMemory, stranger: layerMemoryWith("another key") })
