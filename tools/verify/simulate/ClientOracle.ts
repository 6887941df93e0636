/**
 * What the clients of an import observed: a history that must be linearizable, and acknowledged
 * writes that must be stored at the end.
 */
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
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

/**
 * Answers that reveal nothing of the import and do not change it. A kept answer belongs to an
 * earlier request.
 */
const isNeutral = ({ code, replayed, message }: Answer): boolean =>
  replayed === true ||
  code === "idempotency_key_reused" ||
  code === "import_supplier_migration_not_ongoing" ||
  code === "request_failed_validation" ||
  message.includes("import_supplier_does_not_exist")

const ofAdding = (code: string): string =>
  /^(not_found|account_not_found|import_process_does_not_exist)$/.test(code) ? "not_found" : "ok"

/** The answer as an event of the history; `undefined` if the request is not part of it. */
const heard = (asked: SentRequest): string | null | undefined => {
  const { answer, order } = asked
  const isAdding = /^(notes|transactions|statements|instruction)$/.test(order.kind)
  if (answer === null || answer === unanswered || !isClear(asked)) {
    return isAdding || order.kind === "status" ? undefined : null
  }
  if (isNeutral(answer)) return undefined
  const { code, message } = answer
  if (isAdding) return ofAdding(code)
  // A stage that is refused for its payload has not read the import.
  if (order.kind === "stage" && code === "account_failed_validation") return undefined
  if (code !== "ok" || order.kind === "process") return code
  return `${code} ${message.split(" ")[0] ?? ""}`
}

const askOf = ({ order }: SentRequest): Operation["ask"] | null => {
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
    default:
      return null
  }
}

const operationOf = (asked: SentRequest): Operation | null => {
  const ask = askOf(asked)
  const answer = heard(asked)
  const { caller, ended, id, order } = asked
  if (ask === null || answer === undefined || !("key" in order)) return null
  // The preparation of a line has no effect before the import is stored together with others.
  if (asked.line?.step === "prepare") return null
  if (order.kind !== "skip" && caller.organisation !== owners.get(order.key.import_supplier)) {
    return null
  }
  return { id, ask, at: begunAt(asked), until: ended?.at ?? Infinity, answer }
}

/** The version that the account of an import was made of, read from its notes. */
const lastLook = (world: World, key: ImportKey): Operation => {
  const account = world.observations.get(nameOf(key))?.account ?? null
  const version = account?.notes.flatMap(
    ({ body }) => /^version (\d+)$/.exec(body ?? "")?.[1] ?? []
  )
  const at = world.time.now()
  const answer = account === null ? "not_found" : `ok ${version?.[0] ?? "none"}`
  return { id: world.requests.length + 1, ask: { kind: "version" }, at, until: at, answer }
}

/**
 * Checks that everything the clients of the import saw can have happened in some order; false if
 * they sent nothing relevant.
 */
export const checkLinearizable = (world: World, key: ImportKey): boolean => {
  const name = nameOf(key)
  const operations = new Map(world.requests.map((asked) => [asked, operationOf(asked)]))
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

/** Checks that every acknowledged item is on the account, exactly once. */
export const checkAcknowledged = (world: World, key: ImportKey): void => {
  const name = nameOf(key)
  const there = itemsOf(world.observations.get(name)?.account ?? null)
  for (const { answer, id, order } of world.requests) {
    if (!("key" in order) || nameOf(order.key) !== name) continue
    if (answer === null || answer === unanswered || answer.code !== "ok") continue
    for (const promised of promisedBy(order, answer.message)) {
      const times = there.filter((item) => item === promised).length
      world.clientChecks.that(
        times === 1,
        () => `r${id} was acknowledged, and ${name} has ${promised} ${times} times`
      )
    }
  }
}
