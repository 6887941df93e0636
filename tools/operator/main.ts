/**
 * The process of the operator command: `npm run -s operator -- <noun> <verb> …`. It works on the
 * database that `DATABASE_URL` names, or else on the embedded one in `DATA_DIR`, which it starts
 * for the one command where the local run is not up.
 */
import { userInfo } from "node:os"
import * as AuditHeads from "@data-import/documents/AuditHeads"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import * as DataDirectory from "./DataDirectory.ts"
import { borrow } from "./LocalDatabase.ts"
import { inRoleOf } from "@data-import/postgres/schema/DatabaseUsers"
import { migrate } from "@data-import/postgres/schema/migrate"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Console, Effect, Layer, Logger, Predicate, Redacted } from "effect"
import { run } from "./Operator.ts"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { Refused } from "@data-import/terminal/Refused"
import { endWithoutStdout } from "@data-import/terminal/Stdout"

const open = Effect.gen(function* () {
  const { embedded, url } = yield* borrow
  if (embedded) yield* migrate(url)
  // The only known password of the embedded one is the owner's.
  const operator = embedded ? inRoleOf("operator", url) : url
  const settings = { DATABASE_URL: Redacted.value(operator), DATABASE_POOL_SIZE: "2" }
  return Layer.provide(Storage.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
})

/** Only one command needs it, so a deployment need not configure it. */
const auditHeads = AuditHeads.layer.pipe(
  Layer.catch((cause) => {
    const away = Effect.fail(new DocumentsUnavailable({ cause }))
    return Layer.succeed(AuditHeadStore, { isKept: () => away, keep: () => away, latest: away })
  })
)

/** The documents of the local run are in its data directory. */
const localDocuments = Effect.gen(function* () {
  const folder = yield* DataDirectory.dataDir
  return ConfigProvider.fromUnknown({ DOCUMENTS_DIR: DataDirectory.placesIn(folder).documents })
})

const storage = Layer.unwrap(open).pipe(
  Layer.catch(({ message }) => Layer.effectContext(Effect.fail(new Refused({ why: message })))),
  Layer.merge(TokenSecrets.layer),
  Layer.merge(Layer.provide(auditHeads, ConfigProvider.layerAdd(Effect.orDie(localDocuments))))
)

/** The code that PostgreSQL gives where a table does not exist. */
const undefinedTable = "42P01"

const isUndefinedTable = Predicate.compose(
  Predicate.hasProperty("sqlState"),
  ({ sqlState }) => sqlState === undefinedTable
)

/** Explains a defect. A command has already printed its refusal. */
const explainDefect = (cause: Cause.Cause<unknown>) => {
  if (!Cause.hasDies(cause)) return Effect.void
  return Console.error(
    isUndefinedTable(Cause.squash(cause))
      ? "The database has no tables yet: npm run migrate makes them."
      : Cause.pretty(cause)
  )
}

/** A user without an entry in the system's list has no name. */
const login = Effect.runSync(
  Effect.orElseSucceed(
    Effect.try(() => userInfo().username),
    () => ""
  )
)

endWithoutStdout()

const main = run(process.argv.slice(2), storage, login).pipe(
  Effect.tapCause(explainDefect),
  Effect.provide([NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])])
)

NodeRuntime.runMain(main, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(exitStatusOf(exit))
})
