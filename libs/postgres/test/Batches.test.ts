import { Layer } from "effect"
import { batchesContract } from "@data-import/domain/testing/BatchesContract"
import { batchWorkContract } from "@data-import/domain/testing/BatchWorkContract"
import { erasuresContract } from "@data-import/domain/testing/ErasuresContract"
import { newImportsContract } from "@data-import/domain/testing/NewImportsContract"
import { refusedLinesContract } from "@data-import/domain/testing/RefusedLinesContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

batchesContract("in PostgreSQL", TestDatabase.deployed)
batchWorkContract("in PostgreSQL", TestDatabase.deployed)
newImportsContract("in PostgreSQL", TestDatabase.deployed)

const withTeam = Layer.provideMerge(TestDatabase.layerTeam, TestDatabase.deployed)

erasuresContract("in PostgreSQL", withTeam)
refusedLinesContract("in PostgreSQL", withTeam)
