/** The contracts of the accounts, of reverts and of idempotency keys, run on PostgreSQL as it is deployed. */
import { accountsContract } from "@data-import/domain/testing/AccountsContract"
import { idempotencyKeysContract } from "@data-import/domain/testing/IdempotencyKeysContract"
import { revertsContract } from "@data-import/domain/testing/RevertsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

accountsContract("in PostgreSQL", TestDatabase.deployedWithTeam)
idempotencyKeysContract("in PostgreSQL", TestDatabase.deployedWithTeam)
revertsContract("in PostgreSQL", TestDatabase.deployedWithTeam)
