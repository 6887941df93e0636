/** The contract of every storage port, run on PostgreSQL. */
import { Effect, Layer } from "effect"
import { apiKeysContract } from "@data-import/domain/testing/ApiKeysContract"
import { historyContract } from "@data-import/domain/testing/HistoryContract"
import { importProcessesContract } from "@data-import/domain/testing/ImportProcessesContract"
import { operatorSetupContract } from "@data-import/domain/testing/OperatorSetupContract"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import * as ApiKeys from "../src/ApiKeys.ts"
import * as History from "../src/History.ts"
import * as ImportProcesses from "../src/ImportProcesses.ts"
import { layer as operatorSetup } from "../src/OperatorSetup.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/**
 * The team under which the contracts complete imports; an account cannot be of a team that is not
 * there.
 */
const team = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam("Migration Team"))
)

const storage = Layer.mergeAll(ImportProcesses.layer, History.layer, ApiKeys.layer, team).pipe(
  Layer.provideMerge(operatorSetup),
  Layer.provide(TestDatabase.layer)
)

importProcessesContract("in PostgreSQL", storage)
historyContract("in PostgreSQL", storage)
operatorSetupContract("in PostgreSQL", storage)
apiKeysContract("in PostgreSQL", storage)
