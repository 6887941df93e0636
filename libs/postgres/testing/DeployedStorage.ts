/**
 * The storage ports on one database as they are deployed: each call is made by the user of a
 * service that makes it, and so fails where the migrations grant too little.
 */
import { Context, Duration, Effect, Layer, Record, type Redacted } from "effect"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Allowances } from "@data-import/domain/ports/TokenBuckets"
import { ApiKeys } from "@data-import/domain/ports/ApiKeys"
import { History } from "@data-import/domain/ports/AuditLog"
import { IdempotencyKeys } from "@data-import/domain/ports/IdempotencyKeys"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { OperatorSetup } from "@data-import/domain/ports/Configuration"
import { layerWith } from "../src/connection/Database.ts"
import type { Logins } from "../src/setup/DatabaseUsers.ts"
import { layerPorts } from "../src/Storage.ts"

const portsAt = (url: Redacted.Redacted) =>
  layerPorts.pipe(
    Layer.provide(layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })),
    Layer.fresh,
    Layer.build
  )

/** The outbox is the owner's alone, until something delivers it. */
export const make = Effect.fnUntraced(function* (owner: Redacted.Redacted, logins: Logins) {
  const ports = yield* Effect.all(Record.map(logins, portsAt))
  const accountImport = ports["account-import"]
  const { auth, operator, query } = ports
  const keys = Context.get(operator, ApiKeys)
  const { describe, endInstruction } = Context.get(operator, Accounts)
  return Context.make(Accounts, {
    ...Context.get(ports["post-import"], Accounts),
    describe,
    endInstruction
  }).pipe(
    Context.add(Allowances, Context.get(query, Allowances)),
    Context.add(ApiKeys, {
      ...Context.get(auth, ApiKeys),
      findEnd: Context.get(query, ApiKeys).findEnd,
      issue: keys.issue,
      list: keys.list,
      revoke: keys.revoke
    }),
    Context.add(History, {
      ...Context.get(operator, History),
      recordRefusal: Context.get(accountImport, History).recordRefusal,
      events: Context.get(yield* portsAt(owner), History).events
    }),
    Context.add(IdempotencyKeys, Context.get(accountImport, IdempotencyKeys)),
    Context.add(ImportProcesses, {
      ...Context.get(accountImport, ImportProcesses),
      list: Context.get(query, ImportProcesses).list,
      setSkipped: Context.get(operator, ImportProcesses).setSkipped
    }),
    Context.add(OperatorSetup, Context.get(operator, OperatorSetup))
  )
})
