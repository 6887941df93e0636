/** The contract of the accounts, run on PostgreSQL as it is deployed. */
import { Effect, Layer } from "effect"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { accountsContract } from "@data-import/domain/testing/AccountsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const team = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam("Migration Team"))
)

accountsContract("in PostgreSQL", Layer.provideMerge(team, TestDatabase.deployed))
