/**
 * Whether the observations of the clients of one import are linearizable. Each request takes effect
 * in one step, and a process in two (it takes the lease, and it ends), each between its start and
 * its answer. A request without an answer may have taken effect completely, in part, or not at all.
 * The check uses requests and answers only.
 *
 * It follows the history and keeps every state in which the system can be. A history is valid as
 * long as there is one.
 */

/** A request. Times are milliseconds. */
export interface Operation {
  readonly id: number
  readonly ask:
    | { readonly kind: "stage"; readonly version: number }
    | { readonly kind: "process"; readonly dryRun: boolean; readonly team: boolean }
    | { readonly kind: "skip"; readonly skipped: boolean }
    | { readonly kind: "status" }
    | { readonly kind: "add" }
    | {
        readonly kind: "revert"
        readonly number: string
        readonly withAdditions: boolean
        readonly dryRun: boolean
      }
    /** A kept answer about the account. */
    | { readonly kind: "replay" }
    /** The versions of the data of its accounts of these numbers, read at the end. */
    | { readonly kind: "accounts"; readonly numbers: ReadonlyArray<string> }
  readonly at: number
  /** When it was answered, or could no longer take effect. */
  readonly until: number
  /** `code message`; null if the answer was lost or reveals nothing. */
  readonly answer: string | null
  /** The number of the account that the answer names; null if it names none. */
  readonly number: string | null
  /** When the batch of a line was started; null for a single request. */
  readonly since: number | null
}

export type Event =
  | { readonly what: "asked"; readonly operation: Operation }
  | { readonly what: "ended"; readonly operation: Operation }

/** An account of the import: the process that made it, and the version of its data. */
interface Account {
  readonly process: Operation
  readonly version: number | null
}

/** The states of an import that requests can distinguish. */
interface State {
  /** The version that is staged or imported; null before the first. */
  readonly version: number | null
  readonly skipped: boolean
  /** The process that holds the lease, or whose expired lease is not cleared yet. */
  readonly lease: Operation | null
  readonly account: Account | null
  /** Its accounts that were reverted, the oldest first, and the last revert. */
  readonly past: ReadonlyArray<Account>
  readonly revertedBy: Operation | null
}

/** How far an operation is; `holding` the lease. */
type Progress = "asked" | "holding" | "done"

/** A possible next step of an operation; `answer` is null while it has none. */
interface Way {
  readonly state: State
  readonly answer: string | null
}

const leaseMillis = 60_000

const begin: State = {
  version: null,
  skipped: false,
  lease: null,
  account: null,
  past: [],
  revertedBy: null
}

/** The lease began no sooner than its process was requested. */
const canBeExpired = ({ at }: Operation, now: number): boolean => at + leaseMillis <= now

/** The lease is renewed for as long as its process runs. */
const canBeHeld = ({ until }: Operation, now: number): boolean => until + leaseMillis > now

/** The number of an account is unknown if the answer to its process was lost. */
const canHave = ({ process }: Account, number: string | null): boolean =>
  number === null || process.number === null || process.number === number

/** Whether the account is there that the answer of the operation names. */
const canName = ({ account }: State, { number }: Operation): boolean =>
  account !== null && canHave(account, number)

/** A batch that started before a revert does nothing for the import after it. */
const canBegin = ({ revertedBy }: State, { since }: Operation): boolean =>
  since === null || revertedBy === null || revertedBy.at < since

const done = (state: State, answer: string): Way => ({ state, answer })

/** All possible refusals of a write, and whether it may proceed. */
const unlessActive = (
  state: State,
  operation: Operation,
  refused: string,
  free: (state: State) => ReadonlyArray<Way>
): ReadonlyArray<Way> => {
  const now = operation.at
  if (state.account !== null) {
    return canName(state, operation) ? [done(state, "account_import_process_already_imported")] : []
  }
  if (state.skipped) return [done(state, "account_import_process_skipped")]
  const going = canBegin(state, operation) ? free(state) : []
  if (state.lease === null) return going
  return [
    ...(canBeHeld(state.lease, now) ? [done(state, refused)] : []),
    ...(canBeExpired(state.lease, now) ? going : [])
  ]
}

const inProgress = "account_import_process_in_progress"

const stage = (state: State, operation: Operation, version: number): ReadonlyArray<Way> =>
  state.version === null
    ? [done({ ...begin, version }, "ok first")]
    : unlessActive(state, operation, inProgress, () => [
        done({ ...state, version, lease: null }, "ok again")
      ])

const claim = (state: State, operation: Operation, team: boolean): ReadonlyArray<Way> => {
  if (state.version === null) return [done(state, "import_process_does_not_exist")]
  return unlessActive(state, operation, inProgress, () =>
    team
      ? [
          { state: { ...state, lease: operation }, answer: null },
          done(state, "concurrency_limit_exceeded")
        ]
      : [done(state, "operations_team_name_does_not_exist")]
  )
}

const end = (state: State, operation: Operation, dryRun: boolean): ReadonlyArray<Way> => {
  const lost = "service_unavailable"
  if (state.account !== null || state.lease !== operation) return [done(state, lost)]
  const free = { ...state, lease: null }
  const account = { process: operation, version: state.version }
  return [
    dryRun ? done(free, "dry_run_successful") : done({ ...free, account }, "ok"),
    done(free, "account_failed_validation"),
    done(free, lost)
  ]
}

const skip = (state: State, operation: Operation, skipped: boolean): ReadonlyArray<Way> => {
  if (state.version === null) return [done(state, "None")]
  if (state.account !== null) return [done(state, "Imported")]
  const set = done({ ...state, skipped, lease: skipped ? null : state.lease }, "ok set")
  if (state.skipped) return [set]
  return unlessActive(state, operation, "InProgress", () => [set])
}

/** The end of the present account, if the revert names it. */
const revertPresent = (
  state: State,
  account: Account,
  operation: Operation,
  { dryRun, number, withAdditions }: Extract<Operation["ask"], { readonly kind: "revert" }>
): ReadonlyArray<Way> => {
  const differs = account.process.number === number ? [] : [done(state, "account_number_differs")]
  if (!canHave(account, number)) return differs
  const past = [...state.past, account]
  const after: State = { ...state, account: null, past, revertedBy: operation }
  return [
    ...differs,
    done(state, "revert_window_closed"),
    ...(withAdditions ? [] : [done(state, "account_has_additions")]),
    done(dryRun ? state : after, "ok reverted")
  ]
}

const revert = (
  state: State,
  operation: Operation,
  ask: Extract<Operation["ask"], { readonly kind: "revert" }>
): ReadonlyArray<Way> => {
  const { account, lease, past, skipped } = state
  if (state.version === null) return [done(state, "not_found")]
  const unchanged = past.some((each) => canHave(each, ask.number))
    ? [done(state, "ok unchanged")]
    : []
  if (past.some(({ process }) => process.number === ask.number)) return unchanged
  if (account !== null) return [...unchanged, ...revertPresent(state, account, operation, ask)]
  const notImported = done(state, "account_import_process_not_imported")
  if (skipped || lease === null) return [...unchanged, notImported]
  return [
    ...unchanged,
    ...(canBeHeld(lease, operation.at) ? [done(state, inProgress)] : []),
    ...(canBeExpired(lease, operation.until) ? [notImported] : [])
  ]
}

/** The final look: the versions in the order of the accounts. */
const accounts = (
  state: State,
  { numbers }: Extract<Operation["ask"], { readonly kind: "accounts" }>
): ReadonlyArray<Way> => {
  const all = [...state.past, ...(state.account === null ? [] : [state.account])]
  const areNamed = all.every((each, index) => canHave(each, numbers[index] ?? null))
  const versions = [...state.past, state.account].map((each) => each?.version ?? "none")
  return areNamed ? [done(state, versions.join(" "))] : []
}

const status = (state: State, operation: Operation): ReadonlyArray<Way> => {
  const { at, until } = operation
  if (state.version === null) return [done(state, "not_found")]
  if (state.account !== null) return canName(state, operation) ? [done(state, "ok COMPLETED")] : []
  const { lease, skipped } = state
  if (skipped || lease === null) return [done(state, "ok UNKNOWN")]
  return [
    ...(canBeHeld(lease, at) ? [done(state, "ok IN_PROGRESS")] : []),
    ...(canBeExpired(lease, until) ? [done(state, "ok UNKNOWN")] : [])
  ]
}

const ownWays = (
  state: State,
  operation: Operation,
  progress: Exclude<Progress, "done">
): ReadonlyArray<Way> => {
  const { ask } = operation
  switch (ask.kind) {
    case "stage":
      return stage(state, operation, ask.version)
    case "process":
      return progress === "holding"
        ? end(state, operation, ask.dryRun)
        : claim(state, operation, ask.team)
    case "skip":
      return skip(state, operation, ask.skipped)
    case "status":
      return status(state, operation)
    case "add":
      if (state.account === null) return [done(state, "not_found")]
      return canName(state, operation) ? [done(state, "ok")] : []
    case "revert":
      return revert(state, operation, ask)
    case "replay":
      return canName(state, operation) ? [done(state, "ok")] : []
    case "accounts":
      return accounts(state, ask)
  }
}

/** All possible next steps of the operation in this state. */
const waysOn = (state: State, operation: Operation, progress: Progress): ReadonlyArray<Way> => {
  if (progress === "done") return []
  // The key of the request, or the batch of the line, is older than a revert.
  const wasReverted = state.past.length > 0 ? [done(state, "account_reverted")] : []
  return [...wasReverted, ...ownWays(state, operation, progress)]
}

/** One way in which the system can be: the import's state, and how far every operation is. */
interface Possibility {
  readonly state: State
  readonly pending: ReadonlyMap<Operation, Progress>
}

const nameOf = ({ pending, state }: Possibility): string => {
  const { account, lease, past, revertedBy, skipped, version } = state
  const reverted = past.map((each) => `${each.process.id}:${each.version}`).join()
  let name = `${version} ${skipped} ${account?.process.id} ${lease?.id} ${reverted} ${revertedBy?.id}`
  for (const [{ id }, progress] of pending) name += ` ${id} ${progress}`
  return name
}

type Possibilities = ReadonlyMap<string, Possibility>

const named = (all: Iterable<Possibility>): Possibilities =>
  new Map(Array.from(all, (each) => [nameOf(each), each]))

/**
 * Completes every pending operation that can end here without changing the import. A client that
 * got such an answer later could have got it now, and this rules nothing out.
 */
const satisfied = ({ pending, state }: Possibility): Possibility => ({
  state,
  pending: new Map(
    [...pending].map(([operation, progress]) => {
      const { answer } = operation
      if (progress === "done" || answer === null) return [operation, progress]
      const isAnswered = waysOn(state, operation, progress).some(
        (way) => way.state === state && way.answer === answer
      )
      return [operation, isAnswered ? "done" : progress]
    })
  )
})

/**
 * The other possible steps. If an operation has an answer, it is already known; if it has none,
 * steps without a change need not be followed.
 */
const followed = ({ pending, state }: Possibility): ReadonlyArray<Possibility> =>
  [...pending].flatMap(([operation, progress]) =>
    waysOn(state, operation, progress)
      .filter(
        (way) =>
          way.state !== state &&
          (way.answer === null || operation.answer === null || way.answer === operation.answer)
      )
      .map((way) =>
        satisfied({
          state: way.state,
          pending: new Map(pending).set(operation, way.answer === null ? "holding" : "done")
        })
      )
  )

/** Every state that the pending operations can have reached by now. */
const closure = (all: Possibilities): Possibilities => {
  const known = new Map(named(Array.from(all.values(), satisfied)))
  const open = [...known.values()]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const possibility of followed(next)) {
      const name = nameOf(possibility)
      if (known.has(name)) continue
      known.set(name, possibility)
      open.push(possibility)
    }
  }
  return known
}

const asking = (all: Possibilities, operation: Operation): Possibilities =>
  named(
    Array.from(all.values(), ({ pending, state }) => ({
      state,
      pending: new Map(pending).set(operation, "asked")
    }))
  )

const ending = (all: Possibilities, operation: Operation): Possibilities =>
  named(
    [...closure(all).values()]
      .filter(({ pending }) => operation.answer === null || pending.get(operation) === "done")
      .map(({ pending, state }) => ({
        state,
        pending: new Map([...pending].filter(([each]) => each !== operation))
      }))
  )

/** The first operation whose end cannot be explained; null if everything can. */
export const firstInexplicable = (history: ReadonlyArray<Event>): Operation | null => {
  let all: Possibilities = named([{ state: begin, pending: new Map() }])
  for (const { operation, what } of history) {
    all = what === "asked" ? asking(all, operation) : ending(all, operation)
    if (all.size === 0) return operation
  }
  return null
}
