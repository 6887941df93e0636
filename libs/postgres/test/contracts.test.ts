/** The contract of every storage port, run on PostgreSQL as it is deployed. */
import { Effect, Layer } from "effect"
import { tokenBucketsContract } from "@data-import/domain/testing/TokenBucketsContract"
import { apiKeysContract } from "@data-import/domain/testing/ApiKeysContract"
import { auditLogContract } from "@data-import/domain/testing/AuditLogContract"
import { importProcessesContract } from "@data-import/domain/testing/ImportProcessesContract"
import { configurationContract } from "@data-import/domain/testing/ConfigurationContract"
import { Configuration } from "@data-import/domain/ports/Configuration"
import * as TestDatabase from "../testing/TestDatabase.ts"

/**
 * The team under which the contracts complete imports; an account cannot be of a team that is not
 * there.
 */
const team = Layer.effectDiscard(
  Effect.flatMap(Configuration, (configuration) => configuration.createTeam("Migration Team"))
)

const storage = Layer.provideMerge(team, TestDatabase.deployed)

importProcessesContract("in PostgreSQL", storage)
auditLogContract("in PostgreSQL", storage)
configurationContract("in PostgreSQL", storage)
apiKeysContract("in PostgreSQL", storage)
tokenBucketsContract("in PostgreSQL", storage)
