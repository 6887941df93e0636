/** The contracts of the accounts, of reverts and of idempotency keys, run on PostgreSQL as it is deployed. */
import { Layer } from "effect"
import { accountsContract } from "@data-import/domain/testing/AccountsContract"
import { idempotencyKeysContract } from "@data-import/domain/testing/IdempotencyKeysContract"
import { revertsContract } from "@data-import/domain/testing/RevertsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(TestDatabase.layerTeam, TestDatabase.deployed)

accountsContract("in PostgreSQL", storage)
idempotencyKeysContract("in PostgreSQL", storage)
revertsContract("in PostgreSQL", storage)
