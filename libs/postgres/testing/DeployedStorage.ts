/**
 * The storage ports on one database as they are deployed: each call is made by the user of a
 * service that makes it, so it fails if the migrations grant too little. The database is the
 * owner's, for what tests arrange and look at themselves.
 */
import { Context, Duration, Effect, Layer, Record, type Redacted } from "effect"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { TokenBuckets } from "@data-import/domain/access/TokenBuckets"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import { Batches } from "@data-import/domain/batches/Batches"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import { Certificates } from "@data-import/domain/certificates/Certificates"
import { Checks } from "@data-import/domain/checks/Checks"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { EventLog } from "@data-import/domain/events/EventLog"
import { Forecasts } from "@data-import/domain/migrations/Forecasts"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { ImportSearch } from "@data-import/domain/migrations/ImportSearch"
import { CohortMoves } from "@data-import/domain/migrations/CohortMoves"
import { Invitations } from "@data-import/domain/access/Invitations"
import { Comments } from "@data-import/domain/migrations/Comments"
import { Migrations } from "@data-import/domain/migrations/Migrations"
import { Programme } from "@data-import/domain/migrations/Programme"
import { WavePlans } from "@data-import/domain/migrations/WavePlans"
import { Sandbox } from "@data-import/domain/sandbox/Sandbox"
import { SupplierChanges } from "@data-import/domain/migrations/SupplierChanges"
import { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { Database, layerWith } from "../src/connection/Database.ts"
import type { DatabaseUsers } from "../src/schema/DatabaseUsers.ts"
import { layerPorts } from "../src/Storage.ts"

const portsAt = (url: Redacted.Redacted) =>
  layerPorts.pipe(
    Layer.provideMerge(layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })),
    Layer.fresh,
    Layer.build
  )

type Parts = Layer.Success<typeof layerPorts>
type User = keyof DatabaseUsers | "owner"
type Users = Readonly<Record<User, Effect.Success<ReturnType<typeof portsAt>>>>

/** What calls of clients and of people on the board have in common. */
interface Command {
  readonly caller: { readonly apiKey: string }
}

/** The port as this user calls it, except for operations that others call. */
const calling =
  (ports: Users) =>
  <Id extends Parts, Port extends object>(
    port: Context.Key<Id, Port>,
    by: User,
    others: Partial<Record<User, ReadonlyArray<keyof Port>>> = {},
    /** Called by the board for its people, and for clients by the batches service. */
    ofBoth: ReadonlyArray<keyof Port> = []
  ): Context.Context<Id> => {
    const of = (user: User) => Context.get(ports[user], port)
    const made = { ...of(by) }
    for (const user of Object.keys(others) as ReadonlyArray<User>) {
      for (const name of others[user] ?? []) made[name] = of(user)[name]
    }
    for (const name of ofBoth) {
      const call = (command: Command): unknown => {
        const operation = of(command.caller.apiKey.startsWith("board:") ? "board" : "batches")[name]
        return (operation as (command: Command) => unknown)(command)
      }
      made[name] = call as Port[typeof name]
    }
    return Context.make(port, made)
  }

const coreOf = (called: ReturnType<typeof calling>) =>
  Context.mergeAll(
    called(Accounts, "post-import", {
      query: ["locate", "read"],
      operator: ["describe", "endInstruction"]
    }),
    called(ApiKeys, "auth", { query: ["findEnd"], operator: ["issue", "list", "revoke"] }),
    // Only the owner reads the outbox of one import.
    called(AuditLog, "operator", {
      query: ["recordRead"],
      board: ["search"],
      "account-import": ["recordRefusal"],
      owner: ["events"]
    }),
    // The batch worker seals and exports, and cannot read an entry.
    called(SealedAuditLog, "batch-worker", { query: ["entries"], board: ["entriesOf"] }),
    called(
      Batches,
      "batches",
      {
        "batch-worker": ["cancelLines", "deleteLines", "overview", "reportWorker", "review", "take"]
      },
      ["create", "change"]
    ),
    called(ImportProcesses, "account-import", {
      "batch-worker": ["deletePayloads"],
      query: ["list"],
      operator: ["setSkipped"]
    }),
    called(IdempotencyKeys, "account-import"),
    called(Reverts, "account-import"),
    called(Sandbox, "account-import"),
    called(TokenBuckets, "query"),
    called(Configuration, "operator"),
    called(Erasures, "operator")
  )

const readModelsOf = (called: ReturnType<typeof calling>) =>
  Context.mergeAll(
    called(
      Certificates,
      "batch-worker",
      {
        board: ["find", "keys", "list", "newestIssued"],
        batches: ["blocks", "bounds", "entriesOf"]
      },
      ["request"]
    ),
    called(ControlTotals, "board", { batches: ["read"], query: ["expected"] }, ["set"]),
    called(RehearsalOutcomes, "batches", { "batch-worker": ["follow"] }),
    called(Webhooks, "operator", { events: ["finish", "renew", "take"] }),
    called(EventLog, "events"),
    called(Checks, "query"),
    called(SupplierSummaries, "query"),
    called(BoardSessions, "board", { operator: ["createLink", "endAll", "list"] }),
    called(Alerts, "board"),
    called(CohortMoves, "board"),
    called(Comments, "board"),
    called(Forecasts, "board"),
    called(ImportSearch, "board"),
    called(Invitations, "board"),
    called(Migrations, "board"),
    called(Programme, "board"),
    called(SupplierChanges, "board"),
    called(WavePlans, "board")
  )

export const make = Effect.fnUntraced(function* (
  owner: Redacted.Redacted,
  databaseUsers: DatabaseUsers
) {
  const users = yield* Effect.all(Record.map(databaseUsers, portsAt))
  const owned = yield* portsAt(owner)
  const called = calling({ ...users, owner: owned })
  return Context.mergeAll(
    Context.make(Database, Context.get(owned, Database)),
    coreOf(called),
    readModelsOf(called)
  )
})
