import { layerMemory, layerMemoryWith } from "../ports/memory/TokenSeal.ts"
import { tokenSealContract } from "../testing/TokenSealContract.ts"

tokenSealContract("in memory", { layer: layerMemory, stranger: layerMemoryWith("another key") })
