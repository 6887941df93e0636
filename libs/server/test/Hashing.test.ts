import { hashingContract } from "@data-import/domain/testing/HashingContract"
import { layer } from "../src/Hashing.ts"

hashingContract("by Node", layer)
