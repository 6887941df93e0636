import { Layer } from "effect"
import { batchesContract } from "@data-import/domain/testing/BatchesContract"
import { layer as batches } from "../src/batches/Batches.ts"
import { layer as configuration } from "../src/setup/Configuration.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

batchesContract(
  "in PostgreSQL",
  Layer.mergeAll(batches, configuration).pipe(Layer.provide(TestDatabase.layer))
)
