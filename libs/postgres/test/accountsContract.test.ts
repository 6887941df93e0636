/** The contract of the accounts, run on PostgreSQL. */
import { Effect, Layer } from "effect"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { accountsContract } from "@data-import/domain/testing/AccountsContract"
import { layerPorts } from "../src/Storage.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const team = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam("Migration Team"))
)

accountsContract(
  "in PostgreSQL",
  team.pipe(Layer.provideMerge(layerPorts), Layer.provide(TestDatabase.layer))
)
