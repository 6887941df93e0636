/**
 * Checks every port call against the models: its effect on the storage, its result, and that
 * nothing else has changed.
 */
import { Effect, Exit, Option } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { Accounts } from "@data-import/domain/ports/Accounts"
import type { Reservation } from "@data-import/domain/requests/IdempotencyKey"
import { type AuditLog, moreRefused } from "@data-import/domain/ports/AuditLog"
import type { IdempotencyKeys, Reserving } from "@data-import/domain/ports/IdempotencyKeys"
import type { ImportListEntry, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import type { Supplier } from "@data-import/domain/organisation/Supplier"
import {
  decide,
  linesOf,
  type ModelAccount,
  openedAccount,
  fromDescription
} from "./AccountModel.ts"
import { auditLine, type Command, eventLine, type Operation, steps } from "./ImportModel.ts"
import { keptMessage } from "./AnswerOracle.ts"
import { checkImport } from "./Invariants.ts"
import { isLost, keepAnswer, learnOfChange } from "./KeyedSteps.ts"
import * as KeyModel from "./KeyModel.ts"
import { type Observation, observe } from "./Observation.ts"
import { entryLine } from "./Programs.ts"
import { type SentRequest, begunAt, type Call, nameOf, type Order } from "./Request.ts"
import { isFirst, recorded } from "./RefusalModel.ts"
import { owners } from "./Traffic.ts"
import type { Executed } from "./CallScheduler.ts"
import type { World } from "./World.ts"

type ListQuery = Parameters<ImportProcesses["Service"]["list"]>[0]
type OwnImport = Parameters<ImportProcesses["Service"]["findOwn"]>[0]
type ChangeCommand = Parameters<Accounts["Service"]["change"]>[0]
type ReserveCommand = Parameters<IdempotencyKeys["Service"]["reserve"]>[0]
type RefusalEntry = Parameters<AuditLog["Service"]["recordRefusal"]>[0]

/** The last observation of the import. */
export const lastObservation = (world: World, key: ImportKey): Observation => {
  const observation = world.observations.get(nameOf(key))
  return observation ?? { key, row: null, audit: [], events: [], account: null }
}

/** Checks that two values are equal; the message holds both. */
export const same = (world: World, what: string, found: unknown, expected: unknown): void =>
  world.checks.that(
    isDeepStrictEqual(found, expected),
    () => `${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`
  )

const accountLines = ({ account }: Observation): ReadonlyArray<string> =>
  account === null ? [] : linesOf(fromDescription(account)).toSorted()

/** The result of a step as text, in the terms of the model. */
const answerText = (result: unknown): string => {
  if (result === undefined) return "void"
  if (typeof result === "boolean") return String(result)
  const { _tag, found } = result as { readonly _tag: string; readonly found?: unknown }
  if (_tag !== "Refused") return _tag
  const state = found as { readonly _tag: string } | null
  return `Refused ${state?._tag ?? "none"}`
}

export const othersOf = (world: World) => {
  const rows = () => [...world.observations.values()]
  return {
    isTaken: (number: string) => rows().some(({ row }) => row?.account?.number === number),
    liveLeases: (at: number, supplier?: ImportKey["import_supplier"]) =>
      rows().filter(
        ({ key, row }) =>
          (supplier === undefined || key.import_supplier === supplier) &&
          row !== null &&
          row.lease !== null &&
          row.lease.until > at
      ).length
  }
}

/** What the account of an import must hold, its notes and all. */
export const checkAccountLines = (world: World, what: string, observation: Observation): void => {
  const model = world.accounts.get(nameOf(observation.key))
  const expected = model === undefined ? [] : linesOf(model).toSorted()
  same(world, `${what}: the account`, accountLines(observation), expected)
}

/** Records the effect of a step, for the models of later steps. */
const learn = (world: World, request: SentRequest, operation: Operation, answer: string): void => {
  const { order } = request
  if (!("key" in order)) return
  const name = nameOf(order.key)
  if (operation === "stage" && order.kind === "stage" && /^(Created|Replaced)$/.test(answer)) {
    world.staged.set(name, order)
  }
}

const isStep = (operation: string): operation is Operation => Object.hasOwn(steps, operation)

/** What a step answered, or the failure that it may have. */
const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return answerText(exit.value)
  const failure = Option.getOrNull(Exit.findErrorOption(exit))
  return (failure as { readonly _tag: string } | null)?._tag ?? String(exit)
}

/** Records what an executed step means for later steps and the answer. */
const learnFrom = (
  world: World,
  request: SentRequest,
  operation: Operation,
  command: Command<Operation>,
  { answer, call }: { readonly answer: string; readonly call: Call }
): void => {
  learn(world, request, operation, answer)
  if (operation === "stage" && /^(Created|Replaced)$/.test(answer)) {
    const { at } = command as Command<"stage">
    keepAnswer(world.idempotency, command, answer === "Created" ? "first" : "again", at)
  }
  if (operation === "complete" && answer === "Completed") {
    const { createdAt, number } = (command as Command<"complete">).newAccount
    call.expected = { code: "ok", message: number }
    const name = nameOf(command.key)
    const payload = world.staged.get(name)?.payload ?? {}
    world.accounts.set(name, openedAccount(payload, createdAt.epochMilliseconds))
    keepAnswer(world.idempotency, command, number, createdAt)
  }
}

/** Checks a step on an import against the model. */
const watchStep = Effect.fnUntraced(function* (
  world: World,
  { args, exit, request }: Executed,
  operation: Operation,
  call: Call
) {
  const command = args[0] as Command<Operation>
  const before = lastObservation(world, command.key)
  const name = nameOf(command.key)
  const what = `${operation} of ${name} by r${request.id}`
  const model = steps[operation] as (typeof steps)["stage"]
  const step = isLost(world.idempotency, command)
    ? { answer: "ReservationLost", row: before.row, audit: [], events: [] }
    : model(before.row, command as Command<"stage">, othersOf(world))
  const after = yield* observe(world.storage, command.key)
  const answer = outcomeOf(exit)
  same(world, `${what}: the answer`, answer, step.answer)
  same(world, `${what}: the row`, after.row, step.row)
  same(world, `${what}: the audit log`, after.audit.slice(before.audit.length), step.audit)
  same(world, `${what}: the outbox`, after.events.slice(before.events.length), step.events)
  learnFrom(world, request, operation, command, { answer, call })
  if (operation === "claim" && Exit.isSuccess(exit) && answer === "Claimed") {
    const { payload } = exit.value as { readonly payload: string }
    same(world, `${what}: the payload handed out`, payload, before.row?.payload)
  }
  world.observations.set(name, after)
  checkAccountLines(world, what, after)
  if (request.order.kind === "process" && request.order.dryRun) {
    world.checks.that(
      after.row?.account?.number === before.row?.account?.number &&
        after.row?.payload === before.row?.payload &&
        after.row?.skipped === before.row?.skipped,
      () => `${what}: a dry run left something behind`
    )
  }
  checkImport(world.stateChecks, after)
})

type Adding = Order<"notes" | "transactions" | "statements" | "instruction">

const isAdding = (order: Order): order is Adding =>
  ["notes", "transactions", "statements", "instruction"].includes(order.kind)

/** Whether the request repeats one that was acknowledged before it was sent. */
const repeatsAcknowledged = ({ order, repeats, step }: SentRequest): boolean => {
  if (repeats === null || repeats.ended === null || repeats.ended.step >= step) return false
  if (order.kind === "transactions" && !order.check) return false
  return typeof repeats.answer === "object" && repeats.answer?.code === "ok"
}

/** The model of a change: the account after it, and the answer. */
const changed = (
  world: World,
  command: ChangeCommand,
  { now, order }: { readonly order: Adding; readonly now: number },
  model: ModelAccount
) => {
  const number = lastObservation(world, command.key).row?.account?.number ?? ""
  const decision = decide(model, order, { now, number })
  if (decision.answer.code === "ok" && isLost(world.idempotency, command)) {
    return { account: model, answer: { code: "idempotency_key_in_use", message: "" } }
  }
  return decision
}

/** Checks a change of an account: the account itself, its audit entry and its event. */
const watchChange = Effect.fnUntraced(function* (
  world: World,
  { args, exit, request }: Executed,
  call: Call
) {
  const command = args[0] as ChangeCommand
  const { action, at, caller, key } = command
  const { order } = request
  const name = nameOf(key)
  const what = `${action} of ${name} by r${request.id}`
  const before = lastObservation(world, key)
  const after = yield* observe(world.storage, key)
  world.observations.set(name, after)
  const model = world.accounts.get(name)
  const delta = {
    audit: after.audit.slice(before.audit.length),
    events: after.events.slice(before.events.length)
  }
  same(world, `${what}: the import's row`, after.row, before.row)
  if (model === undefined || !isAdding(order)) {
    const none = Exit.isSuccess(exit) && (exit.value as Option.Option<unknown>)._tag === "None"
    world.checks.that(none, () => `${what}: there is no account to change`)
    same(world, `${what}: the history`, delta, { audit: [], events: [] })
    checkAccountLines(world, what, after)
    call.expected = { code: "not_found", message: "" }
    return
  }
  const { account, answer } = changed(world, command, { order, now: begunAt(request) }, model)
  call.expected = answer
  const isChanged = linesOf(account).toSorted().join("\n") !== linesOf(model).toSorted().join("\n")
  const isListed = answer.code === "ok" && (isChanged || isFirst(world.refusals, command))
  same(world, `${what}: success`, Exit.isSuccess(exit), answer.code === "ok")
  same(world, `${what}: the history`, delta, {
    audit: isListed ? [auditLine(at, caller, action, isChanged ? "created" : "unchanged")] : [],
    events: isChanged ? [eventLine(at, "post_import.completed", [])] : []
  })
  world.accounts.set(name, account)
  learnOfChange(world.idempotency, command, answer, isChanged)
  checkAccountLines(world, what, after)
  world.checks.that(
    !(repeatsAcknowledged(request) && isChanged),
    () => `${what} repeats r${request.repeats?.id ?? ""}, which was acknowledged, and adds again`
  )
  checkImport(world.stateChecks, after)
})

/** Checks a reservation against the model. */
const watchReserve = (world: World, { args, exit, request }: Executed): void => {
  const expected = KeyModel.reserve(world.idempotency, args[0] as ReserveCommand)
  const reserving = Exit.isSuccess(exit) ? (exit.value as Reserving) : null
  const found =
    reserving?._tag === "Kept"
      ? { ...reserving, answer: keptMessage(request, reserving.answer) }
      : reserving
  same(world, `the key of r${request.id}`, found, expected)
}

const watchRefusal = Effect.fnUntraced(function* (world: World, { args, request }: Executed) {
  const refusal = args[0] as RefusalEntry
  const { action, at, caller, key } = refusal
  const outcome = recorded(world.refusals, refusal)
  if (/_batch$/.test(action) || key.external_account_number === null) return
  const name = `${key.import_supplier ?? ""}/${key.external_account_number}`
  const seen = world.keys.find((each) => nameOf(each) === name)
  world.checks.that(seen !== undefined, () => `a refusal of r${request.id} names nothing known`)
  if (seen === undefined) return
  const before = lastObservation(world, seen)
  const after = yield* observe(world.storage, seen)
  world.observations.set(nameOf(seen), after)
  const isListed = outcome !== null && outcome !== moreRefused
  const lines = isListed ? [auditLine(at, caller, action, outcome)] : []
  same(
    world,
    `the refusal of r${request.id}`,
    [after.row, after.audit, after.events],
    [before.row, [...before.audit, ...lines], before.events]
  )
})

/** Orders by code points, which spreading a string yields. */
const byCodePoints = (one: string, other: string): number => {
  const [left, right] = [Array.from(one), Array.from(other)]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at < 0) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1)
}

/** The lines that a list must have, from the observations of all imports. */
export const linesOfList = (world: World, query: ListQuery): ReadonlyArray<string> =>
  [...world.observations.values()]
    .filter(({ key, row }) => {
      if (row === null || key.import_supplier !== query.supplier) return false
      const { after } = query
      if (after !== null && byCodePoints(key.external_account_number, after) <= 0) return false
      if (query.kind === "pending") return row.account === null && !row.skipped
      return query.kind === "all" || row.account !== null
    })
    .toSorted((one, other) =>
      byCodePoints(one.key.external_account_number, other.key.external_account_number)
    )
    .slice(0, query.limit ?? undefined)
    .map(({ account, key }) =>
      entryLine({
        external_account_number: key.external_account_number,
        kraken_account_number: account?.number ?? null,
        account_created_at: account?.createdAt ?? null
      })
    )

const watchList = (world: World, { args, exit, request }: Executed): void => {
  const found = Exit.isSuccess(exit) ? (exit.value as ReadonlyArray<ImportListEntry>) : []
  const expected = linesOfList(world, args[0] as ListQuery)
  same(world, `the list for r${request.id}`, found.map(entryLine), expected)
}

/** Checks that a looked-up supplier is as the operator configured it. */
const watchSupplier = (world: World, { args, exit, request }: Executed, call: Call): void => {
  const code = args[0] as Supplier["code"]
  const status = world.suppliers.get(code)
  const found = Exit.isSuccess(exit) ? (exit.value as Option.Option<Supplier>) : null
  const seen = found?._tag === "Some" ? found.value : null
  same(world, `supplier ${code}`, seen?.status, status)
  same(world, `the owner of ${code}`, seen?.organisation, status && owners.get(code))
  call.supplier = request.caller.organisation === owners.get(code) ? (status ?? null) : null
}

/** Checks that an import is found only for the organisation of its supplier. */
const watchOwn = (world: World, { args, exit, request }: Executed): void => {
  if (Exit.isFailure(exit)) return
  const { number, organisation, supplier } = args[0] as OwnImport
  const key = world.keys.find((each) => nameOf(each) === `${supplier}/${number}`)
  const isOwn = key !== undefined && owners.get(key.import_supplier) === organisation
  const row = isOwn ? lastObservation(world, key).row : null
  const isFound = Option.isSome(exit.value as Option.Option<unknown>)
  same(world, `r${request.id} finds an import`, isFound, row !== null)
}

const mayBecome = (world: World, { reopen, supplier, to }: Order<"setStatus">): boolean => {
  const from = world.suppliers.get(supplier)
  if (from === undefined) return false
  return from === to || from !== "Complete" || (to === "Ongoing" && reopen)
}

/** Checks a command of the operator. Source: docs/contract/operator.md#supplier-status. */
const watchOperator = (world: World, { exit, request: { id, order } }: Executed): void => {
  const isDone = Exit.isSuccess(exit)
  if (order.kind === "createSupplier") {
    same(world, `r${id} creates a supplier`, isDone, !world.suppliers.has(order.supplier))
    if (isDone) world.suppliers.set(order.supplier, "Ongoing")
  }
  if (order.kind === "setStatus") {
    same(world, `r${id} sets a status`, isDone, mayBecome(world, order))
    if (isDone) world.suppliers.set(order.supplier, order.to)
  }
}

/** Checks the effect of a call, before anything else can happen. */
export const checkCall = Effect.fnUntraced(function* (world: World, executed: Executed) {
  const { exit, operation, request } = executed
  const [command] = executed.args as ReadonlyArray<{ readonly attempt?: string } | undefined>
  const attempt = command?.attempt
  const at = world.time.now() + request.instance.skew
  const call: Call = { operation, exit, at, ...(attempt === undefined ? {} : { attempt }) }
  request.calls.push(call)
  const [port, name = ""] = operation.split(".")
  if (port === "ImportProcesses" && isStep(name)) {
    return yield* watchStep(world, executed, name, call)
  }
  switch (operation) {
    case "Accounts.change":
      return yield* watchChange(world, executed, call)
    case "IdempotencyKeys.reserve":
      return watchReserve(world, executed)
    case "IdempotencyKeys.release":
      return KeyModel.release(world.idempotency, executed.args[0] as Reservation)
    case "AuditLog.recordRefusal":
      return yield* watchRefusal(world, executed)
    case "ImportProcesses.findOwn":
      return watchOwn(world, executed)
    case "ImportProcesses.list":
      return watchList(world, executed)
    case "Configuration.supplier":
      return watchSupplier(world, executed, call)
    case "Configuration.createSupplier":
    case "Configuration.changeSupplierStatus":
      return watchOperator(world, executed)
  }
})

/** Checks that everything is as last observed: no step has changed anything else. */
export const checkUnchanged = Effect.fnUntraced(function* (world: World) {
  for (const key of world.keys) {
    const before = lastObservation(world, key)
    const after = yield* observe(world.storage, key)
    same(
      world,
      `${nameOf(key)}, which nobody touched`,
      [after.row, after.audit, after.events],
      [before.row, before.audit, before.events]
    )
    checkAccountLines(world, nameOf(key), after)
    checkImport(world.stateChecks, after)
  }
})
