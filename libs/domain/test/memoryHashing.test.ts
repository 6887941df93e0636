import { layerMemory } from "../src/ports/memory/Hashing.ts"
import { hashingContract } from "../testing/HashingContract.ts"

hashingContract("in memory", layerMemory)
