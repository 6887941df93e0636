import { batchesContract } from "@data-import/domain/testing/BatchesContract"
import { batchWorkContract } from "@data-import/domain/testing/BatchWorkContract"
import { newImportsContract } from "@data-import/domain/testing/NewImportsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

batchesContract("in PostgreSQL", TestDatabase.deployed)
batchWorkContract("in PostgreSQL", TestDatabase.deployed)
newImportsContract("in PostgreSQL", TestDatabase.deployed)
