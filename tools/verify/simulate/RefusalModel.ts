/**
 * The reference for the recording of refusals, and of writes without effect: each once in a window
 * of its API key, and a bounded number of them. Source: docs/contract/operator.md#refused-writes.
 */
import type { AuditLog } from "@data-import/domain/ports/AuditLog"

type Entry = Omit<Parameters<AuditLog["Service"]["recordRefusal"]>[0], "key" | "outcome"> & {
  readonly key: Readonly<Record<"external_account_number" | "import_supplier", string | null>>
  readonly outcome: string
}

/** By organisation and API key, those of writes without effect apart. */
export type RefusalWindows = Map<string, { readonly from: number; readonly known: Set<string> }>

const hour = 3_600_000
const most = 1_000

/** The recorded outcome; null if nothing is recorded. */
export const recorded = (windows: RefusalWindows, entry: Entry): string | null => {
  const { action, at, caller, key, outcome } = entry
  const kind = outcome === "unchanged" ? "unchanged" : "refused"
  const whose = `${caller.organisation} ${caller.apiKey} ${kind}`
  const now = at.epochMilliseconds
  const present = windows.get(whose)
  const isOpen = present !== undefined && now - present.from < hour
  const { from, known } = isOpen ? present : { from: now, known: new Set<string>() }
  windows.set(whose, { from, known })
  const what = [action, outcome, key.import_supplier, key.external_account_number].join("\0")
  if (known.has(what) || known.size > most) return null
  known.add(what)
  return known.size > most ? `more_${kind}` : outcome
}

/** Whether a write without effect is recorded. */
export const isFirst = (windows: RefusalWindows, write: Omit<Entry, "outcome">): boolean =>
  recorded(windows, { ...write, outcome: "unchanged" }) === "unchanged"
