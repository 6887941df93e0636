/** What lines of a batch do with imports, in memory: the single steps, with nothing in between. */
import { Duration, Result } from "effect"
import type { Batch } from "../../src/batches/Batch.ts"
import type { LineAttempt, LineImport } from "../../src/batches/Batches.ts"
import { isFree, stateSince } from "../../src/imports/ImportProcess.ts"
import type { NewAccount } from "../../src/imports/ImportProcesses.ts"
import type { Caller } from "../../src/suppliers/Organisation.ts"
import { claim, complete, release, stage } from "./ImportProcesses.ts"
import { importOf, type MemoryStore, notOngoing } from "./Store.ts"

type Store = MemoryStore["Service"]

/** Whether the import is as it was when its line was prepared. */
const isAsPrepared = (
  store: Store,
  { at, hash, key, staging }: LineImport,
  { started }: Batch
): boolean => {
  const present = importOf(store, key)
  if (present === undefined || staging !== null) return present === undefined && staging !== null
  const { lease } = present.process
  const since = started && started.at
  return lease === null && present.hash === hash && isFree(stateSince(present.process, at, since))
}

const creationOf = ({ attempt }: LineImport): NewAccount | null =>
  attempt === null || Result.isFailure(attempt.judgement) ? null : attempt.judgement.success

/** Whether the account numbers are free, of those imports that can be stored. */
export const haveFreeNumbers = (
  store: Store,
  imports: ReadonlyArray<LineImport>,
  batch: Batch
): boolean => {
  const numbers = imports
    .filter((made) => isAsPrepared(store, made, batch))
    .flatMap((made) => creationOf(made)?.number ?? [])
  const areDifferent = new Set(numbers).size === numbers.length
  return areDifferent && !numbers.some((number) => store.accounts.has(number))
}

/** The attempt by single steps, in which nothing comes between. */
const attemptNow = (
  store: Store,
  { at, key }: LineImport,
  { dryRun, id: attempt, judgement, startedAt }: LineAttempt,
  caller: Caller
): void => {
  const lease = Duration.seconds(1)
  const limits = { deployment: null, supplier: null }
  claim(store, { key, attempt, dryRun, lease, limits, caller, at: startedAt })
  const ending = { key, attempt, dryRun, caller, at }
  if (Result.isFailure(judgement)) {
    const { code: outcome, errors } = judgement.failure
    release(store, { ...ending, outcome, errors })
  } else if (dryRun) release(store, { ...ending, outcome: "dry_run_successful", errors: [] })
  else {
    const { _tag } = complete(store, { key, attempt, newAccount: judgement.success, caller })
    if (_tag !== "Completed") throw new Error(`The account was not created: ${_tag}`)
  }
}

/** Stages and attempts an import. False if it is no longer as it was. */
export const storeLineImport = (
  store: Store,
  made: LineImport,
  batch: Batch,
  caller: Caller
): boolean => {
  const { at, attempt, hash, key, staging } = made
  if (notOngoing(store, key) !== null || !isAsPrepared(store, made, batch)) return false
  if (staging !== null) {
    const { cohort, payload } = staging
    stage(store, { key, payload, hash, cohort: cohort ?? batch.settings.cohort, caller, at })
  }
  if (attempt !== null) attemptNow(store, made, attempt, caller)
  return true
}
