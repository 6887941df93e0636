/** The events of a run as lines of text. */
import { Exit, Option } from "effect"
import { type BatchAction, nameOf, type Order } from "./Request.ts"

const batchActionLine = (action: BatchAction): string => {
  if (action.does === "start") return `start with ${action.lines} lines`
  if (action.does !== "upload") return action.does
  const { breaks, from, lines } = action
  return `upload lines ${from} to ${from + lines.length - 1}${breaks ? " in part" : ""} of`
}

/** An order in a few words. */
export const orderLine = (order: Order): string => {
  switch (order.kind) {
    case "validate":
    case "stage": {
      const broken = order.broken === null ? "" : ` with ${order.broken}`
      return `${order.kind} ${nameOf(order.key)} version ${order.version}${broken}`
    }
    case "process":
      return `process ${nameOf(order.key)}${order.dryRun ? " dry run" : ""}`
    case "notes":
      return `notes ${nameOf(order.key)} ${JSON.stringify(order.notes)}`
    case "transactions": {
      const flags = `${order.check ? "check" : "no check"}, ${order.force ? "force" : "no force"}`
      return `transactions ${nameOf(order.key)} (${flags}) ${JSON.stringify(order.transactions)}`
    }
    case "statements":
      return `statements ${nameOf(order.key)} ${JSON.stringify(order.statements)}`
    case "instruction":
      return `instruction ${nameOf(order.key)} ${JSON.stringify(order.instruction)}`
    case "revert": {
      const { dryRun, key, number, withAdditions } = order
      const flags = `${withAdditions ? "with additions" : "as imported"}${dryRun ? ", dry run" : ""}`
      return `revert ${number} of ${nameOf(key)} (${flags})`
    }
    case "status":
      return `status ${nameOf(order.key)}`
    case "list":
      return `list ${order.list} of ${order.supplier}`
    case "skip":
      return `${order.skipped ? "skip" : "unskip"} ${nameOf(order.key)}`
    case "setStatus":
      return `set ${order.supplier} ${order.to}${order.reopen ? " (reopen)" : ""}`
    case "setWindow":
      return `set the window of ${order.supplier} to ${order.days} days`
    case "createSupplier":
      return `create supplier ${order.supplier}`
    case "work":
      return `work on ${order.task}`
    case "batch":
      return `${batchActionLine(order.action)} ${order.batch}`
  }
}

/** What is answered to a revert. */
export const revertMessage = (isReverted: boolean, number: string): string =>
  `${isReverted ? "reverted" : "unchanged"} ${number}`

const brief = (value: unknown): string => {
  if (typeof value === "object" && value !== null && "_tag" in value) {
    const found = "found" in value ? ` ${brief(value.found)}` : ""
    return `${String(value._tag)}${found}`
  }
  if (Array.isArray(value)) return `${value.length} of them`
  if (value instanceof Set) return value.size === 0 ? "all stored" : `${value.size} refused`
  return typeof value === "boolean" || typeof value === "string" ? String(value) : ""
}

/** The result of a call, in a word or two. */
export const outcomeLine = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return brief(exit.value)
  const failure = Option.getOrNull(Exit.findErrorOption(exit))
  return `failed ${brief(failure)}`.trim()
}

/** The instant as readable text. */
export const instantLine = (millis: number): string =>
  new Date(millis).toISOString().replace("T", " ").replace("Z", "")

const identifier = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** The text with each random identifier replaced by its order of appearance among those `seen`. */
export const withoutIdentifiers = (text: string, seen = new Map<string, string>()): string =>
  text.replaceAll(identifier, (found) => {
    const name = seen.get(found) ?? `id-${seen.size + 1}`
    seen.set(found, name)
    return name
  })

const lastLines = 40
const longest = 400

/** The failure of a run, the events before it, and how to run it again. */
export const failureLines = (
  { failure, seed }: { readonly failure: string | null; readonly seed: number },
  log: ReadonlyArray<string>,
  again: string
): ReadonlyArray<string> => [
  `Seed ${seed} failed: ${failure ?? ""}`,
  `The last of ${log.length} things that happened:`,
  ...log.slice(-lastLines).map((line) => `  ${line.slice(0, longest)}`),
  `Again: ${again}`,
  ""
]

interface Total {
  readonly steps: number
  readonly requests: number
  readonly simulated: number
  readonly checked: number
  readonly histories: number
  readonly failure: string | null
}

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

/** The totals of all runs, which took `took` milliseconds. */
export const totalLines = (reports: ReadonlyArray<Total>, took: number): ReadonlyArray<string> => {
  const sum = (of: (report: Total) => number) =>
    reports.reduce((total, report) => total + of(report), 0)
  const days = sum(({ simulated }) => simulated) / (24 * 60 * 60 * 1000)
  const failed = reports.filter(({ failure }) => failure !== null).length
  const perMinute = took === 0 ? 0 : (days * 60_000) / took
  return [
    `seeds              ${number.format(reports.length)}`,
    `steps              ${number.format(sum(({ steps }) => steps))}`,
    `requests           ${number.format(sum(({ requests }) => requests))}`,
    `simulated days     ${number.format(days)}, ${number.format(perMinute)} a minute`,
    `histories          ${number.format(sum(({ histories }) => histories))}`,
    `invariants checked ${number.format(sum(({ checked }) => checked))}`,
    `failed             ${number.format(failed)}`
  ]
}
