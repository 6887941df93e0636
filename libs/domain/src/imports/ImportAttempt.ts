/**
 * An attempt to create an account from staged data. Its lease is renewed while it runs and released
 * when it ends. If its process dies, the lease expires and the next attempt takes over. No
 * interleaving creates two accounts or a partial one.
 * Source: docs/contract/import.md#attempts-and-leases.
 */
import { Cause, DateTime, Duration, Effect, Fiber, Option, Random, Result } from "effect"
import { nothingAdded } from "../certificates/AccountEntry.ts"
import { sumsOf } from "../certificates/CertifiedSums.ts"
import type { Claim, ImportProcesses, LargePayload, NewAccount } from "./ImportProcesses.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { type Account, AccountNumber } from "../accounts/Account.ts"
import { account as accountValidator } from "../accounts/AccountValidation.ts"
import type { Code } from "../codes/Code.ts"
import type { Configured, RequestValidator, ValidRequest } from "../requests/RequestValidation.ts"
import {
  ConcurrencyLimitExceeded,
  DryRunSuccessful,
  documentsUnavailable,
  type Failure,
  keyInUse,
  MigrationNotOngoing,
  type ServiceUnavailable,
  unavailable
} from "../requests/Failure.ts"
import { type ResponseRecorder, recorderFrom } from "../idempotency/IdempotencyKey.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import { AttemptId, type ImportKey } from "./ImportProcess.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import * as Json from "../schema/Json.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { makeWorkBudget, waiting, type WorkBudget } from "../requests/WorkBudget.ts"

type Port = ImportProcesses["Service"]

export interface Created {
  readonly kraken_account_number: AccountNumber
}

export interface Attempt {
  readonly id: AttemptId
  readonly key: ImportKey
  readonly payload: string | LargePayload
  readonly dryRun: boolean
  /** The operations team that will own the account. */
  readonly team: string
  readonly caller: Caller
  /** The configuration used to validate the request, and then the staged data. */
  readonly configured: Configured
  /** How to record the response; null without an idempotency key. */
  readonly recorder: ResponseRecorder<Created> | null
}

interface Given {
  readonly processes: Port
  readonly requestValidator: RequestValidator
  readonly lease: Duration.Duration
}

interface Dependencies extends Given {
  readonly budget: WorkBudget
}

/** Retry-After, in seconds, for a request over the concurrency limit. */
const limitRetryAfter = 5

/** How often a lease is renewed within its duration. */
const renewals = 3

export const newAttemptId = Effect.sync(() => AttemptId.make(crypto.randomUUID()))

const newAccountNumber: Effect.Effect<AccountNumber> = Effect.map(
  Random.nextIntBetween(0, 2 ** 32),
  (number) => AccountNumber.make(`A-${number.toString(16).toUpperCase().padStart(8, "0")}`)
)

/** The account of valid staged data, with a new number. */
export const newAccountOf = (
  { body: account, documents, supplier }: ValidRequest<Account>,
  operationsTeam: string,
  createdAt: DateTime.Utc
): Effect.Effect<NewAccount> =>
  Effect.map(newAccountNumber, (number) => ({
    number,
    account,
    operationsTeam,
    documents,
    customerEmails: supplier.customerEmails,
    createdAt
  }))

export const dryRunSuccessful = (key: ImportKey, { account }: NewAccount): DryRunSuccessful =>
  new DryRunSuccessful({ key, sums: sumsOf(account, nothingAdded) })

/** The outcome and codes to record for an attempt that ends with this result. */
const recordOf = (
  cause: Cause.Cause<Failure | StorageUnavailable>
): { readonly outcome: Code; readonly errors: ReadonlyArray<FieldError> } => {
  const failure = Cause.findErrorOption(cause)
  if (Option.isNone(failure)) return { outcome: "error", errors: [] }
  if (failure.value._tag === "StorageUnavailable") {
    return { outcome: "service_unavailable", errors: [] }
  }
  const errors = failure.value._tag === "ValidationFailed" ? failure.value.errors : []
  return { outcome: failure.value.code, errors }
}

type Order = Omit<Parameters<Port["claim"]>[0], "attempt" | "lease">

type Claimed = Extract<Claim, { readonly _tag: "Claimed" }> & { readonly id: AttemptId }

const claim = Effect.fnUntraced(function* (
  { lease, processes }: Dependencies,
  order: Order
): Effect.fn.Return<
  Claimed | Extract<Claim, { readonly _tag: "Refused" }>,
  ConcurrencyLimitExceeded | MigrationNotOngoing | StorageUnavailable
> {
  const id = yield* newAttemptId
  const claimed = yield* processes.claim({ ...order, attempt: id, lease })
  switch (claimed._tag) {
    case "Claimed":
      return { ...claimed, id }
    case "Refused":
      return claimed
    case "NotOngoing":
      return yield* new MigrationNotOngoing({ status: claimed.status })
    case "LimitExceeded":
      yield* RequestFacts.note({ limit: "attempts" })
      return yield* new ConcurrencyLimitExceeded({ retryAfterSeconds: limitRetryAfter })
  }
})

/** Ends when the lease is lost. */
const renewing = ({ lease, processes }: Dependencies, { id, key }: Attempt) =>
  DateTime.now.pipe(
    Effect.flatMap((at) =>
      processes.renew({ key, attempt: id, at, until: DateTime.addDuration(at, lease) })
    ),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning(
          "A lease could not be renewed; its attempt goes on while it lasts",
          cause
        ),
        true
      )
    ),
    Effect.delay(Duration.divideUnsafe(lease, renewals)),
    Effect.repeat({ while: (isHeld) => isHeld }),
    Effect.interruptible
  )

/**
 * A large payload is read here, after its permits were acquired, so that waiting attempts hold no
 * memory.
 */
const textOf = ({ processes }: Dependencies, { id, key, payload }: Attempt) =>
  typeof payload === "string"
    ? Effect.succeed(payload)
    : waiting(processes.stagedPayload({ key, attempt: id })).pipe(
        Effect.flatMap(Option.match({ onNone: () => unavailable, onSome: Effect.succeed }))
      )

/** Validates the staged data again, by the rules of today. */
const revalidate = Effect.fnUntraced(function* (
  { requestValidator }: Dependencies,
  { caller, configured }: Pick<Attempt, "caller" | "configured">,
  text: string
) {
  const payload = Result.getOrThrow(yield* inTimeSlices(() => Json.parseInSteps(text)))
  const code = "account_failed_validation"
  return yield* requestValidator
    .validate({ validator: accountValidator, caller, body: payload, payload, code, configured })
    .pipe(Effect.catchTag("DocumentsUnavailable", () => documentsUnavailable))
})

const completed = ({ processes }: Dependencies, command: Parameters<Port["complete"]>[0]) =>
  Effect.catchTag(processes.complete(command), "ReservationLost", () => keyInUse)

/** Not interruptible once it has begun, because storage itself detects a lost lease. */
const create = Effect.fnUntraced(function* (
  deps: Dependencies,
  attempt: Attempt,
  lost: Effect.Effect<never, ServiceUnavailable>
) {
  // Nothing is stored yet, so an interruption ends the attempt here.
  const revalidating = Effect.flatMap(textOf(deps, attempt), (text) =>
    revalidate(deps, attempt, text)
  )
  const valid = yield* Effect.interruptible(Effect.raceFirst(revalidating, lost))
  const { caller, dryRun, id, key, team } = attempt
  const createdAs = ({ number }: NewAccount): Created => ({ kraken_account_number: number })
  const recorder = recorderFrom(attempt.recorder, createdAs)
  while (true) {
    const newAccount = yield* newAccountOf(valid, team, yield* DateTime.now)
    const command = { key, attempt: id, newAccount, caller }
    const completion = yield* dryRun
      ? deps.processes.dryRun(command)
      : completed(deps, { ...command, recorder })
    switch (completion._tag) {
      case "Completed":
        if (dryRun) return yield* dryRunSuccessful(key, newAccount)
        return createdAs(newAccount)
      case "LeaseLost":
        return yield* unavailable
      case "NumberTaken":
        continue
    }
  }
})

const release = Effect.fnUntraced(function* (
  { processes }: Dependencies,
  { caller, dryRun, id, key }: Attempt,
  cause: Cause.Cause<Failure | StorageUnavailable>
) {
  const at = yield* DateTime.now
  const record = recordOf(cause)
  return yield* processes.release({ key, attempt: id, ...record, dryRun, caller, at })
})

const sizeOf = (payload: Attempt["payload"]): number =>
  typeof payload === "string" ? payload.length : payload.bytes

const run = (deps: Dependencies, attempt: Attempt) => {
  const creating = Effect.gen(function* () {
    const renewal = yield* Effect.forkScoped(renewing(deps, attempt))
    const lost = Effect.interruptible(Effect.andThen(Fiber.await(renewal), unavailable))
    // The request's own body is read. Its memory budget is released while this waits for more.
    return yield* create(deps, attempt, lost).pipe(
      deps.budget(attempt.caller.organisation, sizeOf(attempt.payload)),
      waiting
    )
  }).pipe(Effect.scoped)
  // The attempt is interrupted when the gateway closes its connection to the service: because it
  // gave up or died, or the client reset its own connection. The lease is still released.
  return Effect.uninterruptibleMask((restore) =>
    restore(creating).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(release(deps, attempt, cause), Effect.failCause(cause))
      )
    )
  )
}

/**
 * How an attempt at this payload ends, without the lease. Null if it meets an error, so that
 * another attempt is to record it.
 */
const judge = (
  deps: Dependencies,
  { team, ...attempt }: Pick<Attempt, "caller" | "configured" | "team">,
  text: string
) =>
  revalidate(deps, attempt, text).pipe(
    Effect.flatMap((valid) => Effect.flatMap(DateTime.now, (at) => newAccountOf(valid, team, at))),
    Effect.map(Result.succeed),
    Effect.catchTag("ValidationFailed", (failure) => Effect.succeed(Result.fail(failure))),
    Effect.catchDefect(() => Effect.succeed(null))
  )

export const makeAttempts = (given: Given) => {
  const deps: Dependencies = { ...given, budget: makeWorkBudget() }
  return {
    /** Takes the lease of an import for a new attempt. */
    claim: (order: Order) => claim(deps, order),
    /** Runs a claimed attempt to its end. Releases the lease unless the account was created. */
    run: (attempt: Attempt) => run(deps, attempt),
    judge: (attempt: Parameters<typeof judge>[1], text: string) => judge(deps, attempt, text)
  }
}
