/** The audit entries and events of an import, as short lines for comparison. */
import { Effect } from "effect"
import { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"

/** The audit entries as "action outcome" and the events with their codes, without the instants. */
export const recordOf = Effect.fnUntraced(function* (key: ImportKey) {
  const auditLog = yield* AuditLog
  const audit = yield* auditLog.audit(key)
  const events = yield* auditLog.events(key)
  return {
    audit: audit.map(({ action, outcome }) => `${action} ${outcome}`),
    events: events.map(({ codes, name }) => [name, ...codes].join(" "))
  }
})
