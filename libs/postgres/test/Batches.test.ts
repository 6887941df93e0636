import { batchesContract } from "@data-import/domain/testing/BatchesContract"
import { batchWorkContract } from "@data-import/domain/testing/BatchWorkContract"
import { lineImportsContract } from "@data-import/domain/testing/LineImportsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

batchesContract("in PostgreSQL", TestDatabase.deployed)
batchWorkContract("in PostgreSQL", TestDatabase.deployed)
lineImportsContract("in PostgreSQL", TestDatabase.deployed)
