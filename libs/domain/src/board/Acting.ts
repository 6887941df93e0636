/** How a manager acts on a supplier: the user sees it, and the audit log has it. */
import { Effect } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import type { AuditAction, AuditLog } from "../audit/AuditLog.ts"
import { recordRefusalsOf } from "../audit/Audit.ts"
import { type Failure, unavailable } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { actingAs, type BoardCaller, callerFor } from "./BoardCaller.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly configuration: Configuration["Service"]
}

export const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
  Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

/** Records a refused action of the user on the supplier. */
export const refusalsRecorded = (
  { auditLog }: Pick<Dependencies, "auditLog">,
  caller: BoardCaller,
  action: AuditAction,
  supplier: Pick<Supplier, "code" | "organisation">
) => recordRefusalsOf(auditLog, action, callerFor(caller, supplier.organisation), supplier)

/** Looks at a supplier, if the user may see it. */
export const looking =
  ({ configuration }: Pick<Dependencies, "configuration">) =>
  <A>(
    user: BoardUser,
    named: string,
    look: (supplier: Supplier) => Effect.Effect<A, Failure | StorageUnavailable>
  ) =>
    available(Effect.flatMap(visibleSupplier(configuration, user, named), look))

/** Acts on a supplier, and records a refusal, unless the user may not see the supplier. */
export const acting =
  (deps: Dependencies) =>
  <A>(
    caller: BoardCaller,
    named: string,
    action: AuditAction,
    run: (supplier: Supplier) => Effect.Effect<A, Failure | StorageUnavailable>
  ) =>
    visibleSupplier(deps.configuration, caller.user, named).pipe(
      Effect.flatMap((supplier) => refusalsRecorded(deps, caller, action, supplier)(run(supplier))),
      actingAs(caller),
      available
    )
