/**
 * A disaster: the system is backed up while writers work, destroyed with everything that it stores,
 * and restored to a point in time. Everything acknowledged before the point is there, and nothing
 * after it. The system then works, also for clients with earlier tokens.
 */
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Schema, Scope } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as Backup from "@data-import/postgres/testing/Backup"
import * as Health from "@data-import/testbed/Health"
import type { Objects } from "@data-import/testbed/ObjectStore"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import type { Entry } from "../AcknowledgedWrites.ts"
import { Findings } from "../Findings.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds, settle, startWorkload } from "../Scenario.ts"
import * as Session from "../Session.ts"
import { verify } from "../Verification.ts"

/** What must be kept together: see docs/backup.md. */
interface Kept {
  readonly base: Backup.BaseBackup
  readonly tokenKeys: string
  readonly objects: Objects
}

/** Kept after the base backup, so that every key and document that it refers to is included. */
const keep = Effect.fnUntraced(function* (folder: string) {
  const { objects, postgres, tokenKeys } = yield* System
  const base = yield* Backup.take(postgres, join(folder, "base.tar"))
  const copied = join(folder, "keys")
  cpSync(tokenKeys, copied, { recursive: true })
  return { base, tokenKeys: copied, objects: yield* objects.copy } satisfies Kept
})

/** Kills every process with SIGKILL, and deletes everything that they store. */
const destroy = Effect.gen(function* () {
  const { instances, objects, postgres, tokenKeys } = yield* System
  yield* Effect.forEach(instances, (service) => service.kill(), { concurrency: "unbounded" })
  yield* Backup.destroy(postgres)
  rmSync(tokenKeys, { recursive: true })
  yield* objects.lose
})

const restore = Effect.fnUntraced(function* (
  { base, objects: copied, tokenKeys: kept }: Kept,
  at: string
) {
  const { instances, objects, port, postgres, tokenKeys } = yield* System
  yield* Backup.restore(postgres, base, at)
  cpSync(kept, tokenKeys, { recursive: true })
  yield* objects.putBack(copied)
  yield* Effect.forEach(instances, (service) => service.start(), { concurrency: "unbounded" })
  yield* Health.ready(port)
})

const paths = rowsOf(Schema.Struct({ path: Schema.String }))

/** Every document that the restored accounts of the tenant name is in the restored store. */
const verifyDocuments = Effect.fnUntraced(function* (tenant: Tenant, findings: Findings) {
  const { database, objects } = yield* System
  const { run, sql } = database
  const mine = sql`
    select account_id from import_processes where supplier = ${tenant.supplier}`
  const named = yield* run(
    paths(sql`
      select document_path as path from note_documents where account_id in (${mine})
      union select statement_path from statements
      where account_id in (${mine}) and statement_path is not null`)
  )
  const stored = yield* objects.copy
  for (const { path } of named) {
    const key = `${tenant.supplier}/${path.replace(/^\/+/, "")}`
    if (!stored.has(key)) findings.add("lost", `the document ${key}`)
  }
  return named.length
})

/** An earlier token can read an earlier import. */
const verifyToken = Effect.fnUntraced(function* (
  session: Session.Session,
  tenant: Tenant,
  entries: ReadonlyArray<Entry>,
  findings: Findings
) {
  const entry = entries.find(({ account }) => account !== null)
  const { answer } = yield* session.settle(Requests.status(tenant, entry?.number ?? "none"))
  if (answer.status === 200) return
  findings.add("lost", `a token of before the point is answered with ${answer.status}`)
})

/** Runs the load until the point and beyond it, and makes the backup. */
const workAndKeep = Effect.fnUntraced(function* (
  tenant: Tenant,
  folder: string,
  findings: Findings
) {
  const { postgres } = yield* System
  const { traffic } = yield* startWorkload({ tenant, findings })
  const { probe, writes } = traffic
  yield* probe.more("post-import", 40)
  const kept = yield* keep(folder)
  yield* probe.more("post-import", 40)
  const point = yield* writes.at(Backup.now(postgres))
  const archived = yield* seconds(Backup.archived(postgres, point.moment.segment))
  yield* probe.more("post-import", 10)
  // Recovery ends at the point only if it meets a later commit.
  const later = yield* Backup.now(postgres)
  yield* Backup.archived(postgres, later.segment)
  const after = writes.acknowledged - point.acknowledged
  return { kept, point, archived, after }
})

/** The restored system takes further writes. */
const workOn = Effect.fnUntraced(function* (findings: Findings) {
  const working = yield* startWorkload({ findings, accounts: 20 })
  yield* working.traffic.done
  return (yield* settle(working)).acknowledged
})

const disaster = Effect.fnUntraced(function* (findings: Findings) {
  const { checkedTenant } = yield* System
  const tenant = yield* checkedTenant
  const session = yield* Session.open(tenant, 1)
  const load = yield* Effect.acquireRelease(Scope.make(), (it) => Scope.close(it, Exit.void))
  const folder = yield* temporaryFolder()
  const { after, archived, kept, point } = yield* workAndKeep(tenant, folder, findings).pipe(
    Scope.provide(load)
  )
  yield* destroy
  yield* Scope.close(load, Exit.void)
  const recovery = yield* seconds(restore(kept, point.moment.at))
  yield* verify(tenant, point.entries, findings)
  const documents = yield* verifyDocuments(tenant, findings)
  yield* verifyToken(session, tenant, point.entries, findings)
  const acknowledged = point.acknowledged + (yield* workOn(findings))
  return { acknowledged, after, archived, documents, recovery }
}, Effect.scoped)

export const restoreToPoint: Scenario = {
  name: "restore",
  about:
    "backed up under 16 writers, destroyed, restored to a point in time; WAL is archived every " +
    "`count` seconds",
  short: { kills: 1, count: 1 },
  long: { kills: 3, count: 30 },
  run: Effect.fnUntraced(function* ({ count, kills: rounds }) {
    const { postgres } = yield* System
    const findings = new Findings()
    yield* Backup.archiveWal(postgres, count)
    const all = yield* Effect.forEach(Array.from({ length: rounds }), () => disaster(findings))
    const worst = (of: ReadonlyArray<number>) => Math.max(0, ...of)
    return {
      acknowledged: all.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      findings,
      recoveries: all.map(({ recovery }) => recovery),
      recoveryLimit: 60,
      figures: [
        {
          name: "acknowledged after the point, and gone",
          value: Math.min(...all.map(({ after }) => after)),
          unit: "",
          atLeast: 1
        },
        {
          name: "archived after the point",
          value: worst(all.map(({ archived }) => archived)),
          unit: "s",
          atMost: count + 5
        },
        {
          name: "documents named",
          value: Math.min(...all.map(({ documents }) => documents)),
          unit: "",
          atLeast: 1
        }
      ]
    }
  })
}
