/**
 * The reference for the recording of refusals: each once in a window of its API key, and a bounded
 * number of them. Source: docs/contract/operator.md#refused-writes.
 */
import type { AuditLog } from "@data-import/domain/ports/AuditLog"

type Refusal = Parameters<AuditLog["Service"]["recordRefusal"]>[0]

/** By organisation and API key. */
export type RefusalWindows = Map<string, { readonly from: number; readonly known: Set<string> }>

const hour = 3_600_000
const most = 1_000

/** The recorded outcome of a refusal; null if nothing is recorded. */
export const recorded = (windows: RefusalWindows, refusal: Refusal): string | null => {
  const { action, at, caller, key, outcome } = refusal
  const whose = `${caller.organisation} ${caller.apiKey}`
  const now = at.epochMilliseconds
  const present = windows.get(whose)
  const isOpen = present !== undefined && now - present.from < hour
  const { from, known } = isOpen ? present : { from: now, known: new Set<string>() }
  windows.set(whose, { from, known })
  const what = [action, outcome, key.import_supplier, key.external_account_number].join("\0")
  if (known.has(what) || known.size > most) return null
  known.add(what)
  return known.size > most ? "more_refused" : outcome
}
