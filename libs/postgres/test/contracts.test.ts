/** The contract of every storage port, run on PostgreSQL as it is deployed. */
import { Effect, Layer } from "effect"
import { allowancesContract } from "@data-import/domain/testing/TokenBucketsContract"
import { apiKeysContract } from "@data-import/domain/testing/ApiKeysContract"
import { historyContract } from "@data-import/domain/testing/AuditLogContract"
import { importProcessesContract } from "@data-import/domain/testing/ImportProcessesContract"
import { operatorSetupContract } from "@data-import/domain/testing/ConfigurationContract"
import { OperatorSetup } from "@data-import/domain/ports/Configuration"
import * as TestDatabase from "../testing/TestDatabase.ts"

/**
 * The team under which the contracts complete imports; an account cannot be of a team that is not
 * there.
 */
const team = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam("Migration Team"))
)

const storage = Layer.provideMerge(team, TestDatabase.deployed)

importProcessesContract("in PostgreSQL", storage)
historyContract("in PostgreSQL", storage)
operatorSetupContract("in PostgreSQL", storage)
apiKeysContract("in PostgreSQL", storage)
allowancesContract("in PostgreSQL", storage)
