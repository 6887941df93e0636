/**
 * Imports and their accounts in memory. The states, lease holders and events come from the same
 * pure functions as in the other adapters.
 */
import { DateTime, Effect, Layer, Option, Order, Stream } from "effect"
import { customerEmailEvent, releaseCodes, releaseEvent } from "../../src/events/Event.ts"
import {
  type Attempt,
  type ImportDetails,
  isFailure,
  meets
} from "../../src/imports/ImportDetails.ts"
import type { ResponseRecorder } from "../../src/idempotency/IdempotencyKey.ts"
import {
  type AttemptId,
  holds,
  type ImportKey,
  isFree,
  stateAt,
  stateSince
} from "../../src/imports/ImportProcess.ts"
import { byteLength } from "../../src/support/Utf8.ts"
import { smallBytes } from "../../src/requests/WorkBudget.ts"
import type { SupplierCode } from "../../src/suppliers/Supplier.ts"
import {
  type Claim,
  type Completion,
  type DetailedList,
  errorsInList,
  type ImportListEntry,
  type ImportListKind,
  ImportProcesses,
  type NewAccount,
  type Staging
} from "../../src/imports/ImportProcesses.ts"
import { recordUnchanged } from "./AuditLog.ts"
import { findOwn, present } from "./ImportReading.ts"
import { deletePayloads } from "./PayloadDeletion.ts"
import { leases } from "./Leases.ts"
import { keepAnswer, release as releaseKey, whileReserved } from "./IdempotencyKeys.ts"
import {
  announce,
  codePointOrder,
  firstStaging,
  importOf,
  putImport,
  MemoryStore,
  notOngoing,
  recordChange,
  recordOperator,
  type StoredImport
} from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = ImportProcesses["Service"]
type Command<Operation extends keyof Port> = Parameters<Port[Operation]>[0]

const endAttempt = (
  stored: StoredImport,
  attempt: AttemptId,
  end: Pick<Attempt, "endedAt" | "errors"> & { readonly outcome: string }
): StoredImport => ({
  ...stored,
  process: { ...stored.process, lease: null },
  hasFailed: stored.process.lease?.isDryRun ? stored.hasFailed : isFailure(end.outcome),
  attempts: stored.attempts.map((each) => (each.id === attempt ? { ...each, ...end } : each))
})

/** Called only for a free import, whose lease, if any, has expired. */
const clearExpiredLease = (stored: StoredImport, at: DateTime.Utc): StoredImport =>
  stored.process.lease === null
    ? stored
    : endAttempt(stored, stored.process.lease.attempt, {
        endedAt: at,
        outcome: "lease_expired",
        errors: []
      })

/** The text of an import without an account. Only an imported one may have lost its text. */
const textOf = ({ payload, process }: StoredImport): string => {
  if (payload === null) throw new Error(`${process.key.external_account_number} has no payload`)
  return payload
}

export const stage = (store: Store, command: Command<"stage">): Staging => {
  const { at, caller, cohort = null, createOnly = false, hash, recorder, key, payload } = command
  const { since = null } = command
  const refused = notOngoing(store, key)
  if (refused !== null) return refused
  const present = importOf(store, key)
  if (present !== undefined) {
    const found = stateSince(present.process, at, since)
    if (!isFree(found)) return { _tag: "Refused", found }
    if (createOnly) {
      if (present.hash === null) throw new Error("What is staged has no hash")
      if (recorder) releaseKey(store, recorder.reservation)
      return { _tag: "Present", hash: present.hash }
    }
  }
  const staged = {
    payload,
    hash,
    cohort: cohort ?? present?.cohort ?? null,
    stagedAt: at,
    hasFailed: false
  }
  putImport(
    store,
    present === undefined
      ? { ...staged, ...firstStaging(key) }
      : { ...clearExpiredLease(present, at), ...staged, stagings: present.stagings + 1 }
  )
  recordChange(store, key, {
    at,
    event: "data_import.import_process.staged-v1",
    action: "stage",
    outcome: present === undefined ? "created" : "replaced",
    caller
  })
  const stored = { _tag: present === undefined ? "Created" : "Replaced" } as const
  keepAnswer(store, recorder, stored, at)
  return stored
}

const liveLeases = (store: Store, at: DateTime.Utc, supplier?: SupplierCode): number =>
  [...store.imports]
    .filter(([code]) => supplier === undefined || code === supplier)
    .flatMap(([, imports]) => [...imports.values()])
    .filter(({ process }) => stateAt(process, at)._tag === "InProgress").length

export const claim = (store: Store, command: Command<"claim">): Claim => {
  const { at, attempt, dryRun, key, lease, limits, since = null } = command
  const refused = notOngoing(store, key)
  if (refused !== null) return refused
  const present = importOf(store, key)
  if (present === undefined) return { _tag: "Refused", found: null }
  const found = stateSince(present.process, at, since)
  if (!isFree(found)) return { _tag: "Refused", found }
  const reached = (limit: number | null, supplier?: SupplierCode): boolean =>
    limit !== null && liveLeases(store, at, supplier) >= limit
  if (reached(limits.deployment) || reached(limits.supplier, key.import_supplier)) {
    return { _tag: "LimitExceeded" }
  }
  const { attempts, process, ...staged } = clearExpiredLease(present, at)
  const payload = textOf(present)
  const expiresAt = DateTime.addDuration(at, lease)
  putImport(store, {
    ...staged,
    hasFailed: dryRun && staged.hasFailed,
    process: { ...process, lease: { attempt, expiresAt, isDryRun: dryRun } },
    attempts: [
      ...attempts,
      { id: attempt, dryRun, startedAt: at, endedAt: null, outcome: null, errors: [] }
    ]
  })
  const bytes = byteLength(payload)
  return { _tag: "Claimed", payload: bytes <= smallBytes ? payload : { bytes } }
}

/** The import, if the attempt holds it. */
const held = (store: Store, key: ImportKey, attempt: AttemptId): StoredImport | undefined => {
  const present = importOf(store, key)
  return present !== undefined && holds(present.process, attempt) ? present : undefined
}

const stagedPayload = (store: Store, { attempt, key }: Command<"stagedPayload">) =>
  Option.fromNullishOr(held(store, key, attempt)?.payload)

const isStaged = (store: Store, { hash, key }: Command<"isStaged">): boolean => {
  const present = importOf(store, key)
  return present?.hash === hash
}

const renew = (store: Store, { at, attempt, key, until }: Command<"renew">): boolean => {
  const present = held(store, key, attempt)
  const state = present && stateAt(present.process, at)
  if (present === undefined || state?._tag !== "InProgress") return false
  const lease = { ...state.lease, expiresAt: until }
  putImport(store, { ...present, process: { ...present.process, lease } })
  return true
}

const completion = (
  store: Store,
  present: StoredImport | undefined,
  newAccount: NewAccount
): Completion => {
  if (present === undefined) return { _tag: "LeaseLost" }
  if (store.accounts.has(newAccount.number)) return { _tag: "NumberTaken" }
  return { _tag: "Completed" }
}

const dryRun = (store: Store, { attempt, key, newAccount }: Command<"dryRun">): Completion =>
  completion(store, held(store, key, attempt), newAccount)

export const complete = (store: Store, command: Command<"complete">): Completion => {
  const { attempt, caller, recorder, key, newAccount } = command
  const present = held(store, key, attempt)
  const answer = completion(store, present, newAccount)
  if (present === undefined || answer._tag !== "Completed") return answer
  const { createdAt, customerEmails, number } = newAccount
  const ended = endAttempt(present, attempt, { endedAt: createdAt, outcome: "created", errors: [] })
  putImport(store, { ...ended, process: { ...ended.process, account: { number, createdAt } } })
  store.accounts.set(number, { ...newAccount, key, payload: present.payload ?? "" })
  recordChange(store, key, {
    at: createdAt,
    event: "data_import.import_process.complete-v1",
    action: "process",
    outcome: "created",
    caller
  })
  if (customerEmails) {
    announce(store, key, { at: createdAt, name: customerEmailEvent, codes: [] })
  }
  keepAnswer(store, recorder, newAccount, createdAt, number)
  return answer
}

export const release = (store: Store, command: Command<"release">): void => {
  const { at, attempt, caller, dryRun, errors, key, outcome } = command
  const present = held(store, key, attempt)
  if (present === undefined) return
  putImport(store, endAttempt(present, attempt, { endedAt: at, outcome, errors }))
  const event = releaseEvent(dryRun, outcome === "dry_run_successful")
  const codes = releaseCodes(outcome, errors)
  recordChange(store, key, { at, event, codes, action: "process", outcome, caller })
}

const setSkipped = (store: Store, { at, key, skipped }: Command<"setSkipped">) => {
  const present = importOf(store, key)
  if (present === undefined) return { _tag: "Refused", found: null } as const
  const found = stateAt(present.process, at)
  if (!isFree(found) && found._tag !== "Skipped") return { _tag: "Refused", found } as const
  const after = skipped ? clearExpiredLease(present, at) : present
  putImport(store, { ...after, process: { ...after.process, skipped } })
  return { _tag: "Set" } as const
}

const setSkippedByOperator = Effect.fnUntraced(function* (
  store: Store,
  command: Command<"setSkipped">
) {
  const { key, skipped } = command
  const before = importOf(store, key)?.process.skipped
  const answer = setSkipped(store, command)
  if (answer._tag === "Refused") return answer
  yield* recordOperator(store, {
    action: skipped ? "skip_import" : "unskip_import",
    outcome: before === skipped ? "unchanged" : "changed",
    organisation: store.suppliers.get(key.import_supplier)?.organisation ?? null,
    key
  })
  return answer
})

const setCohort = (store: Store, { at, caller, cohort, key }: Command<"setCohort">) => {
  const refused = notOngoing(store, key)
  if (refused !== null) return refused
  const present = importOf(store, key)
  if (present === undefined) return { _tag: "Refused", found: null } as const
  const found = stateAt(present.process, at)
  if (!isFree(found)) return { _tag: "Refused", found } as const
  if (present.cohort === cohort) {
    recordUnchanged(store, { at, action: "change_import", key, caller })
    return { _tag: "Set" } as const
  }
  putImport(store, { ...present, cohort })
  recordChange(store, key, { at, event: null, action: "change_import", outcome: "changed", caller })
  return { _tag: "Set" } as const
}

const isListed = ({ process }: StoredImport, kind: ImportListKind): boolean => {
  switch (kind) {
    case "all":
      return true
    case "pending":
      return process.account === null && !process.skipped && !process.erased
    case "imported":
      return process.account !== null
  }
}

export const detailsOf = (
  { attempts, cohort, hasFailed, hash, process, reverted, stagedAt, stagings }: StoredImport,
  most: number
): ImportDetails => ({
  process,
  stagedAt,
  stagings,
  hash,
  cohort,
  hasFailed,
  reverted,
  attempts: most === 0 ? [] : attempts.slice(-most)
})

const detailsInList = (stored: StoredImport, detailed: DetailedList) => {
  if (detailed.details === "none") return {}
  const details = detailsOf(stored, detailed.details === "with attempts" ? 1 : 0)
  const attempts = details.attempts.map((attempt) => ({
    ...attempt,
    errors: attempt.errors.slice(0, errorsInList)
  }))
  return { details: { ...details, attempts } }
}

const list = (store: Store, query: Command<"list">): ReadonlyArray<ImportListEntry> => {
  const { after, detailed = null, kind, limit, supplier } = query
  return [...(store.imports.get(supplier)?.values() ?? [])]
    .filter((stored) => isListed(stored, kind))
    .filter((stored) => detailed === null || meets(stored, detailed.filter, detailed.at))
    .map((stored) => ({
      external_account_number: stored.process.key.external_account_number,
      kraken_account_number: stored.process.account?.number ?? null,
      account_created_at: stored.process.account?.createdAt ?? null,
      ...(detailed !== null && detailsInList(stored, detailed))
    }))
    .filter((entry) => after === null || codePointOrder(entry.external_account_number, after) > 0)
    .sort(Order.mapInput(codePointOrder, (entry) => entry.external_account_number))
    .slice(0, limit ?? undefined)
}

export const layerMemory: Layer.Layer<ImportProcesses> = Layer.effect(
  ImportProcesses,
  Effect.map(MemoryStore, (store) => {
    const step =
      <C, A>(operation: (store: Store, command: C) => A) =>
      (command: C): Effect.Effect<A> =>
        Effect.sync(() => operation(store, command))
    const keyed =
      <C extends { readonly recorder?: ResponseRecorder<never> | null }, A>(
        operation: (store: Store, command: C) => A
      ) =>
      (command: C) =>
        whileReserved(store, command.recorder, () => Effect.succeed(operation(store, command)))
    return ImportProcesses.of({
      stage: keyed(stage),
      find: (key) => Effect.sync(() => Option.fromNullishOr(importOf(store, key)?.process)),
      findOwn: (sought) => Effect.sync(() => findOwn(store, sought)),
      claim: step(claim),
      present: (key) => Effect.sync(() => present(store, key)),
      stagedPayload: step(stagedPayload),
      payload: (key) => Effect.sync(() => Option.fromNullishOr(importOf(store, key)?.payload)),
      isStaged: (staged) => Effect.sync(() => isStaged(store, staged)),
      renew: step(renew),
      complete: keyed(complete),
      dryRun: step(dryRun),
      release: step(release),
      setSkipped: (command) => setSkippedByOperator(store, command),
      setCohort: step(setCohort),
      deletePayloads: (command) => Effect.sync(() => deletePayloads(store, command)),
      leases: (at) => Effect.sync(() => leases(store, at)),
      details: (key, most) =>
        Effect.sync(() =>
          Option.map(Option.fromNullishOr(importOf(store, key)), (stored) =>
            detailsOf(stored, most)
          )
        ),
      list: (query) => Stream.suspend(() => Stream.fromIterable(list(store, query)))
    })
  })
).pipe(Layer.provide(MemoryStore.layer))
