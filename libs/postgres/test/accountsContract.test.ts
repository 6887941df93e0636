/** The contracts of the accounts and of idempotency keys, run on PostgreSQL as it is deployed. */
import { Effect, Layer } from "effect"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { accountsContract } from "@data-import/domain/testing/AccountsContract"
import { idempotencyKeysContract } from "@data-import/domain/testing/IdempotencyKeysContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const team = Layer.effectDiscard(
  Effect.flatMap(Configuration, (configuration) => configuration.createTeam("Migration Team"))
)

const storage = Layer.provideMerge(team, TestDatabase.deployed)

accountsContract("in PostgreSQL", storage)
idempotencyKeysContract("in PostgreSQL", storage)
