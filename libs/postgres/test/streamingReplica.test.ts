/**
 * A streaming replica: while it is a standby, no service uses it, because it may lag behind
 * acknowledged writes. Once it is promoted, it has everything that reached it, unaltered.
 */
import { expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, type Redacted, Schema, Stream } from "effect"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { Checks } from "@data-import/domain/checks/Checks"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { EventLog } from "@data-import/domain/events/EventLog"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Database, layerWith, rowsOf } from "../src/connection/Database.ts"
import { readOnly } from "../src/connection/SqlFailure.ts"
import { migrate } from "../src/schema/migrate.ts"
import { layerPorts } from "../src/Storage.ts"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { standbyOf } from "../testing/StreamingReplica.ts"
import { temporaryDataDir } from "../testing/temporaryFolder.ts"

const storageAt = (url: Redacted.Redacted) =>
  Layer.merge(layerPorts, hashing).pipe(
    Layer.provideMerge(layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })),
    Layer.fresh,
    Layer.build
  )

const positionRows = rowsOf(Schema.Struct({ position: Schema.String }))
const reachedRows = rowsOf(Schema.Struct({ reached: Schema.NullOr(Schema.Boolean) }))

const checked = Effect.gen(function* () {
  yield* (yield* EventLog).assignPositions(10_000)
  const ports = {
    accounts: yield* Accounts,
    checks: yield* Checks,
    hashing: yield* Hashing,
    sealed: yield* SealedAuditLog
  }
  return yield* makeScheduledChecks(ports).checkAll
})

it.live(
  "a standby is refused, and has every acknowledged write once it is promoted",
  () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir()
      const { url } = yield* EmbeddedPostgres.start({ dataDir, durable: false })
      yield* migrate(url)
      const primary = yield* storageAt(url)
      const first = Context.get(primary, Database)
      const writing = Effect.gen(function* () {
        const account = yield* importedFrom(domesticPayload())
        yield* changeAccount(account, adding(creditOf("added")))
      }).pipe(Effect.provideContext(primary))
      yield* Context.get(primary, Configuration).createTeam("Migration Team")
      yield* writing
      const standby = yield* standbyOf(url, dataDir)
      yield* Effect.repeat(writing, { times: 19 })
      const [written] = yield* first.run(
        positionRows(first.sql`select pg_current_wal_lsn()::text as position`)
      )
      const storage = yield* storageAt(standby.url)
      const database = Context.get(storage, Database)
      const { sql } = database
      const hasReached = sql`
      select pg_last_wal_replay_lsn() >= ${written?.position ?? ""}::pg_lsn as reached`
      yield* Effect.repeat(reachedRows(hasReached), { until: ([row]) => row?.reached === true })

      expect(yield* Effect.flip(database.ready)).toBe(readOnly)
      expect(
        yield* Effect.flip(Context.get(storage, Configuration).createTeam("refused"))
      ).toMatchObject({ _tag: "StorageUnavailable" })
      const available = yield* Effect.forkChild(
        Stream.runHead(Stream.filter(database.states, (state) => state === "available"))
      )
      yield* sql`select pg_promote()`
      yield* Fiber.join(available)
      yield* Context.get(storage, Configuration).createTeam("accepted")
      const { checked: counts, differences } = yield* Effect.provideContext(checked, storage)
      expect(differences).toEqual([])
      expect(counts.accounts).toBe(21)
    }).pipe(Effect.scoped),
  120_000
)
