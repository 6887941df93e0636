import { batchesContract } from "@data-import/domain/testing/BatchesContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

batchesContract("in PostgreSQL", TestDatabase.deployed)
