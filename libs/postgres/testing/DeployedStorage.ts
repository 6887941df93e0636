/**
 * The storage ports on one database as they are deployed: each call is made by the user of a
 * service that makes it, so it fails if the migrations grant too little. The database is the
 * owner's, for what tests arrange and look at themselves.
 */
import { Context, Duration, Effect, Layer, Record, type Redacted } from "effect"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
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

type UserPorts = Readonly<Record<keyof DatabaseUsers, Effect.Success<ReturnType<typeof portsAt>>>>

/** Entered by clients and users of the board. The query service reads how many are expected. */
const controlTotalsOf = (ports: UserPorts): ControlTotals["Service"] => {
  const { expectedMoney, ofCohorts, set } = Context.get(ports.board, ControlTotals)
  const { read, set: ofClients } = Context.get(ports.batches, ControlTotals)
  return {
    expectedMoney,
    ofCohorts,
    read,
    expected: Context.get(ports.query, ControlTotals).expected,
    set: (command) =>
      command.caller.apiKey.startsWith("board:") ? set(command) : ofClients(command)
  }
}

/** The batch worker counts what the batches service answers. */
const outcomesOf = ({ batches, "batch-worker": worker }: UserPorts) => ({
  ...Context.get(batches, RehearsalOutcomes),
  follow: Context.get(worker, RehearsalOutcomes).follow
})

/** The ports that only one service calls, and the outcomes of rehearsals. */
const undivided = (ports: UserPorts) => {
  const { board, operator, query } = ports
  const accountImport = ports["account-import"]
  return Context.make(TokenBuckets, Context.get(query, TokenBuckets)).pipe(
    Context.add(Alerts, Context.get(board, Alerts)),
    Context.add(Checks, Context.get(query, Checks)),
    Context.add(Erasures, Context.get(operator, Erasures)),
    Context.add(ControlTotals, controlTotalsOf(ports)),
    Context.add(EventLog, Context.get(ports.events, EventLog)),
    Context.add(Forecasts, Context.get(board, Forecasts)),
    Context.add(IdempotencyKeys, Context.get(accountImport, IdempotencyKeys)),
    Context.add(ImportSearch, Context.get(board, ImportSearch)),
    Context.add(CohortMoves, Context.get(board, CohortMoves)),
    Context.add(Comments, Context.get(board, Comments)),
    Context.add(Invitations, Context.get(board, Invitations)),
    Context.add(Migrations, Context.get(board, Migrations)),
    Context.add(RehearsalOutcomes, outcomesOf(ports)),
    Context.add(Reverts, Context.get(accountImport, Reverts)),
    Context.add(Sandbox, Context.get(accountImport, Sandbox)),
    Context.add(SupplierChanges, Context.get(board, SupplierChanges)),
    Context.add(SupplierSummaries, Context.get(query, SupplierSummaries)),
    Context.add(Programme, Context.get(board, Programme)),
    Context.add(WavePlans, Context.get(board, WavePlans)),
    Context.add(Configuration, Context.get(operator, Configuration))
  )
}

/** Calls on behalf of a user of the board are made by the board's user. */
const batchesOf = ({
  batches,
  board
}: UserPorts): Pick<Batches["Service"], "create" | "change"> => {
  const portOf = ({ apiKey }: Caller) =>
    Context.get(apiKey.startsWith("board:") ? board : batches, Batches)
  return {
    create: (command) => portOf(command.caller).create(command),
    change: (command) => portOf(command.caller).change(command)
  }
}

/** Asked for by clients and users of the board, and computed by the batch worker. */
const certificatesOf = (ports: UserPorts): Certificates["Service"] => {
  const { find, keys, list, newestIssued, request } = Context.get(ports.board, Certificates)
  const { blocks, bounds, entriesOf, request: ofClients } = Context.get(ports.batches, Certificates)
  return {
    ...Context.get(ports["batch-worker"], Certificates),
    ...{ find, keys, list, newestIssued, blocks, bounds, entriesOf },
    request: (command) =>
      command.caller.apiKey.startsWith("board:") ? request(command) : ofClients(command)
  }
}

/** The batch worker seals and exports, and cannot read an entry. */
const sealedOf = (ports: UserPorts): SealedAuditLog["Service"] => ({
  ...Context.get(ports["batch-worker"], SealedAuditLog),
  entries: Context.get(ports.query, SealedAuditLog).entries,
  entriesOf: Context.get(ports.board, SealedAuditLog).entriesOf
})

/** Only the owner reads the outbox of one import. */
export const make = Effect.fnUntraced(function* (
  owner: Redacted.Redacted,
  databaseUsers: DatabaseUsers
) {
  const ports = yield* Effect.all(Record.map(databaseUsers, portsAt))
  const owned = yield* portsAt(owner)
  const accountImport = ports["account-import"]
  const { auth, operator, query } = ports
  const keys = Context.get(operator, ApiKeys)
  const worker = Context.get(ports["batch-worker"], Batches)
  const deliverer = Context.get(ports.events, Webhooks)
  const { describe, endInstruction } = Context.get(operator, Accounts)
  const { locate, read } = Context.get(query, Accounts)
  return Context.make(Accounts, {
    ...Context.get(ports["post-import"], Accounts),
    locate,
    read,
    describe,
    endInstruction
  }).pipe(
    Context.add(ApiKeys, {
      ...Context.get(auth, ApiKeys),
      findEnd: Context.get(query, ApiKeys).findEnd,
      issue: keys.issue,
      list: keys.list,
      revoke: keys.revoke
    }),
    Context.add(AuditLog, {
      ...Context.get(operator, AuditLog),
      recordRead: Context.get(query, AuditLog).recordRead,
      search: Context.get(ports.board, AuditLog).search,
      recordRefusal: Context.get(accountImport, AuditLog).recordRefusal,
      events: Context.get(owned, AuditLog).events
    }),
    Context.add(SealedAuditLog, sealedOf(ports)),
    Context.add(Batches, {
      ...Context.get(ports.batches, Batches),
      ...batchesOf(ports),
      cancelLines: worker.cancelLines,
      deleteLines: worker.deleteLines,
      overview: worker.overview,
      reportWorker: worker.reportWorker,
      review: worker.review,
      take: worker.take
    }),
    Context.add(Certificates, certificatesOf(ports)),
    Context.add(Webhooks, {
      ...Context.get(operator, Webhooks),
      finish: deliverer.finish,
      renew: deliverer.renew,
      take: deliverer.take
    }),
    Context.add(BoardSessions, {
      ...Context.get(ports.board, BoardSessions),
      createLink: Context.get(operator, BoardSessions).createLink,
      endAll: Context.get(operator, BoardSessions).endAll,
      list: Context.get(operator, BoardSessions).list
    }),
    Context.add(ImportProcesses, {
      ...Context.get(accountImport, ImportProcesses),
      deletePayloads: Context.get(ports["batch-worker"], ImportProcesses).deletePayloads,
      list: Context.get(query, ImportProcesses).list,
      setSkipped: Context.get(operator, ImportProcesses).setSkipped
    }),
    Context.add(Database, Context.get(owned, Database)),
    Context.merge(undivided(ports))
  )
})
