/**
 * What the clients of an import observed: a history that must be linearizable, and acknowledged
 * writes that must be stored at the end.
 */
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { batchNamed } from "./BatchModel.ts"
import { type Event, firstInexplicable, type Operation } from "./Linearizability.ts"
import {
  type Answer,
  type SentRequest,
  begunAt,
  isClear,
  nameOf,
  unanswered,
  type Order
} from "./Request.ts"
import { accountItem, instructionItem, itemsOf, noteItem, statementItem } from "./StoredItems.ts"
import { owners } from "./Traffic.ts"
import type { World } from "./World.ts"

/** Answers that reveal nothing of the import and do not change it. */
const isNeutral = ({ code, message }: Answer): boolean =>
  code === "idempotency_key_reused" ||
  code === "import_supplier_migration_not_ongoing" ||
  code === "request_failed_validation" ||
  message.includes("import_supplier_does_not_exist")

const ofAdding = (code: string): string =>
  /^(not_found|account_not_found|import_process_does_not_exist)$/.test(code)
    ? "not_found"
    : code === "account_reverted"
      ? code
      : "ok"

const isAdding = ({ order }: SentRequest): boolean =>
  /^(notes|transactions|statements|instruction)$/.test(order.kind)

const isReplayed = ({ answer }: SentRequest): boolean =>
  typeof answer === "object" && answer?.replayed === true

/** Whether the answer of the request is deleted when the account is reverted. */
const isOfAccount = (asked: SentRequest): boolean =>
  isAdding(asked) || asked.order.kind === "process"

/** The number of the account that an answer names. */
const numberIn = ({ answer }: SentRequest): string | null =>
  typeof answer === "object" ? (/\bA-[0-9A-F]{8}\b/.exec(answer?.message ?? "")?.[0] ?? null) : null

/** The answer as an event of the history; `undefined` if the request is not part of it. */
const heard = (asked: SentRequest): string | null | undefined => {
  const { answer, order } = asked
  if (answer === null || answer === unanswered || !isClear(asked)) {
    return isAdding(asked) || order.kind === "status" ? undefined : null
  }
  if (isNeutral(answer)) return undefined
  const { code, message } = answer
  // A kept answer belongs to an earlier request.
  if (isReplayed(asked)) return isOfAccount(asked) ? "ok" : undefined
  if (isAdding(asked)) return ofAdding(code)
  // A stage that is refused for its payload has not read the import.
  if (order.kind === "stage" && code === "account_failed_validation") return undefined
  if (code !== "ok" || order.kind === "process") return code
  return `${code} ${message.split(" ")[0] ?? ""}`
}

const askOf = (asked: SentRequest): Operation["ask"] | null => {
  const { order } = asked
  if (isReplayed(asked)) return { kind: "replay" }
  switch (order.kind) {
    case "stage":
      return { kind: "stage", version: order.version }
    case "process":
      return { kind: "process", dryRun: order.dryRun, team: order.team === "Migration Team" }
    case "skip":
      return { kind: "skip", skipped: order.skipped }
    case "status":
      return { kind: "status" }
    case "notes":
    case "transactions":
    case "statements":
    case "instruction":
      return { kind: "add" }
    case "revert": {
      const { dryRun, number, withAdditions } = order
      return { kind: "revert", number, withAdditions, dryRun }
    }
    default:
      return null
  }
}

/** The preparation of a line has no effect before the import is stored together with others. */
const isPreparation = ({ line }: SentRequest): boolean => line?.step === "prepare"

const operationOf = ({ batches }: World, asked: SentRequest): Operation | null => {
  const ask = askOf(asked)
  const answer = heard(asked)
  const { caller, ended, id, order } = asked
  if (ask === null || answer === undefined || !("key" in order)) return null
  if (isPreparation(asked)) return null
  if (order.kind !== "skip" && caller.organisation !== owners.get(order.key.import_supplier)) {
    return null
  }
  const since = asked.line && batchNamed(batches, asked.line.batch).startedAt
  const until = ended?.at ?? Infinity
  return { id, ask, at: begunAt(asked), until, answer, number: numberIn(asked), since }
}

/** The versions that the accounts of an import were made of, read from their notes. */
const lastLook = (world: World, key: ImportKey): Operation => {
  const { accounts = [], row = null } = world.observations.get(nameOf(key)) ?? {}
  const versions = accounts.map(({ notes }) =>
    notes
      .flatMap(({ body }) => /^version (\d+)$/.exec(body ?? "")?.[1] ?? [])
      .slice(0, 1)
      .join()
  )
  const answer = [...versions, ...(row === null || row.account === null ? ["none"] : [])].join(" ")
  const numbers = accounts.map(({ number }) => number)
  const at = world.time.now()
  const id = world.requests.length + 1
  return {
    id,
    ask: { kind: "accounts", numbers },
    at,
    until: at,
    answer,
    number: null,
    since: null
  }
}

/**
 * Checks that everything the clients of the import saw can have happened in some order; false if
 * they sent nothing relevant.
 */
export const checkLinearizable = (world: World, key: ImportKey): boolean => {
  const name = nameOf(key)
  const operations = new Map(world.requests.map((asked) => [asked, operationOf(world, asked)]))
  const history = world.events.flatMap(({ asked, what }): ReadonlyArray<Event> => {
    const operation = operations.get(asked) ?? null
    if (operation === null || !("key" in asked.order)) return []
    return nameOf(asked.order.key) === name ? [{ what, operation }] : []
  })
  const lookup = lastLook(world, key)
  const culprit = firstInexplicable([
    ...history,
    { what: "asked", operation: lookup },
    { what: "ended", operation: lookup }
  ])
  world.clientChecks.that(
    culprit === null,
    () =>
      `${name}: no order of what was asked explains that r${culprit?.id ?? ""} ` +
      `(${culprit?.ask.kind ?? ""}) was answered ${culprit?.answer ?? ""}`
  )
  return history.length > 0
}

/** The items that an acknowledged request promises. Transactions are counted in `Repeats.ts`. */
const promisedBy = ({ kind, ...order }: Order, message: string): ReadonlyArray<string> => {
  if ("statements" in order) return order.statements.map(statementItem)
  if ("instruction" in order) return [instructionItem(order.instruction)]
  if (!("notes" in order)) return kind === "process" ? [accountItem] : []
  const times = message.split(", ").map((each) => each.split(" ")[1])
  return order.notes.map((note, index) => noteItem(note, times[index]))
}

/**
 * Checks that every acknowledged item is on the account that the answer names, or else on one of
 * the import, exactly once, and nowhere twice.
 */
export const checkAcknowledged = (world: World, key: ImportKey): void => {
  const name = nameOf(key)
  const { accounts = [] } = world.observations.get(name) ?? {}
  const there = accounts.map((account) => ({ number: account.number, items: itemsOf(account) }))
  for (const asked of world.requests) {
    const { answer, id, order } = asked
    if (!("key" in order) || nameOf(order.key) !== name || isPreparation(asked)) continue
    if (answer === null || answer === unanswered || answer.code !== "ok") continue
    const named = numberIn(asked)
    const about = there.filter(({ number }) => named === null || number === named)
    for (const promised of promisedBy(order, answer.message)) {
      const times = about.map(({ items }) => items.filter((item) => item === promised).length)
      world.clientChecks.that(
        Math.max(...times) === 1,
        () =>
          `r${id} was acknowledged, and the accounts of ${name} have ${promised} ${times.join()} times`
      )
    }
  }
}
