import { layerMemory } from "../testing/memory/Hashing.ts"
import { hashingContract } from "../testing/HashingContract.ts"

hashingContract("in memory", layerMemory)
