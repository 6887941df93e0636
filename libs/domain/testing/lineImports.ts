/** Imports of lines, singly and together, and all that is left of them, for the contract suites. */
import { Duration, Effect, Option, Result, Stream } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import type { ChunkInHand, LineAttempt, LineImport } from "../src/batches/Batches.ts"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { ImportProcesses, type NewAccount } from "../src/imports/ImportProcesses.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { type Begun, endOf } from "./begunBatches.ts"
import { encodeDescription } from "./describedAccounts.ts"
import { freshAttempt, newAccountFor, noon } from "./freshNames.ts"
import { domesticAccount } from "./samples.ts"

export const keyOf = ({ supplier }: Pick<Begun, "supplier">, number: string): ImportKey => ({
  import_supplier: supplier.code,
  external_account_number: number as ImportKey["external_account_number"]
})

/** Some of the documents of the sample, each with a size of its own. */
const documents = new Map(
  ["notes/NL-0004711/request-2024-11-02.pdf", "statements/NL-0004711/2025-01.pdf"].map(
    (path, index) => [path, { size: 100 + index, etag: null, checksum: null }]
  )
)

const team = "Migration Team"

export const accountFor = (key: ImportKey): NewAccount => ({
  ...newAccountFor(key, noon),
  operationsTeam: team,
  account: domesticAccount(key),
  documents
})

const hashOf = ({ external_account_number }: ImportKey) =>
  PayloadHash.make(external_account_number.length.toString(16).padStart(64, "a"))

/** An attempt that creates the account, or is refused. */
export const attemptOf = (judgement: LineAttempt["judgement"], dryRun = false): LineAttempt => ({
  id: freshAttempt(),
  dryRun,
  startedAt: noon,
  judgement
})

export const importOf = (key: ImportKey, newAccount: NewAccount | null = null): LineImport => ({
  key,
  hash: hashOf(key),
  at: noon,
  staging: { payload: JSON.stringify({ sent: key.external_account_number }), cohort: null },
  attempt: newAccount && attemptOf(Result.succeed(newAccount))
})

/** The imports, each with the end of its line. */
export const ending = (chunk: ChunkInHand, imports: ReadonlyArray<LineImport>) =>
  imports.map((made, index) => {
    const line = chunk.lines[index]
    if (line === undefined) throw new Error("There are fewer lines than imports")
    return { ...made, end: endOf("SUCCEEDED")(line) }
  })

export const teamExists = Effect.gen(function* () {
  const { createTeam } = yield* Configuration
  yield* Effect.ignore(createTeam(team))
})

/** Stores the import by single steps instead. */
export const storeSingly = Effect.fnUntraced(function* (made: LineImport, caller: Caller) {
  const { claim, complete, release, stage } = yield* ImportProcesses
  const { at, attempt: own, hash, key, staging } = made
  if (staging !== null) yield* stage({ key, payload: staging.payload, hash, caller, at })
  if (own === null) return
  const { dryRun, id: attempt, judgement, startedAt } = own
  const lease = Duration.seconds(60)
  const limits = { deployment: null, supplier: null }
  yield* claim({ key, attempt, dryRun, lease, limits, caller, at: startedAt })
  const ending = { key, attempt, dryRun, caller, at }
  if (Result.isFailure(judgement)) {
    const { code: outcome, errors } = judgement.failure
    yield* release({ ...ending, outcome, errors })
  } else if (dryRun) yield* release({ ...ending, outcome: "dry_run_successful", errors: [] })
  else yield* complete({ key, attempt, newAccount: judgement.success, caller })
})

/** All that the ports return about an import, except random values. */
export const leftOf = Effect.fnUntraced(function* (key: ImportKey, newAccount: NewAccount | null) {
  const auditLog = yield* AuditLog
  const { find, isStaged } = yield* ImportProcesses
  const { describe: describeAccount } = yield* Accounts
  const process = Option.getOrThrow(yield* find(key))
  const account = yield* Stream.runHead(
    describeAccount(newAccount === null ? [] : [newAccount.number])
  )
  return {
    isStaged: yield* isStaged({ key, hash: hashOf(key) }),
    state: { ...process, key: null, account: process.account?.createdAt },
    attempts: (yield* auditLog.attempts(key)).map((attempt) => ({ ...attempt, id: null })),
    audit: (yield* auditLog.audit(key)).map(({ action, outcome }) => [action, outcome]),
    events: yield* auditLog.events(key),
    account: Option.map(account, (described) => ({
      ...encodeDescription(described),
      payload: described.payload?.replace(key.external_account_number, ""),
      kraken_account_number: null,
      external_account_number: null
    }))
  }
})
