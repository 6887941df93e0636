/**
 * What the operator configures: organisations, suppliers, operations teams and the open code lists.
 * Programs only read; the operator command writes. In a command (`CurrentOperator`), each write
 * also writes the audit log, in the same step.
 */
import { Context, Data, type DateTime, type Effect, type Option, type Result } from "effect"
import type { CodeLists, OpenCodeList } from "../schema/CodeLists.ts"
import type { Organisation, OrganisationName } from "./Organisation.ts"
import type { Supplier, SupplierCode, SupplierSettings, SupplierStatus } from "./Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export class AlreadyExists extends Data.TaggedError("AlreadyExists")<{
  readonly what: "organisation" | "supplier" | "team"
  readonly name: string
}> {}

export class DoesNotExist extends Data.TaggedError("DoesNotExist")<{
  readonly what: "organisation" | "supplier"
  readonly name: string
}> {}

/** The document root overlaps that of `by`, which belongs to another organisation. */
export class DocumentRootTaken extends Data.TaggedError("DocumentRootTaken")<{
  readonly documentRoot: string
  readonly by: Supplier
}> {}

export class Configuration extends Context.Service<
  Configuration,
  {
    /**
     * `testOf` is the live organisation for which the new one is the test organisation. A live
     * organisation has at most one: a second one fails with `AlreadyExists`.
     */
    readonly createOrganisation: (
      name: OrganisationName,
      at: DateTime.Utc,
      testOf?: OrganisationName | null
    ) => Effect.Effect<Organisation, AlreadyExists | DoesNotExist | StorageUnavailable>
    readonly organisation: (
      name: OrganisationName
    ) => Effect.Effect<Option.Option<Organisation>, StorageUnavailable>
    /** In code point order of the name or code, like the lists below. */
    readonly organisations: Effect.Effect<ReadonlyArray<Organisation>, StorageUnavailable>

    /**
     * Fails for a document root that overlaps that of another organisation's supplier. An
     * organisation whose mode is not that of the code counts as missing.
     */
    readonly createSupplier: (
      supplier: Supplier
    ) => Effect.Effect<void, AlreadyExists | DoesNotExist | DocumentRootTaken | StorageUnavailable>
    readonly supplier: (
      code: SupplierCode
    ) => Effect.Effect<Option.Option<Supplier>, StorageUnavailable>
    readonly suppliers: Effect.Effect<ReadonlyArray<Supplier>, StorageUnavailable>
    /**
     * Sets the status that `decide` returns for the current one, under a lock on the supplier. A
     * supplier that is no longer Complete is no longer signed off.
     */
    readonly changeSupplierStatus: <E>(
      code: SupplierCode,
      decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
    ) => Effect.Effect<Supplier, E | DoesNotExist | StorageUnavailable>
    /**
     * Sets the given settings, keeps the others, and returns the updated supplier. Sets nothing if
     * a given document root overlaps that of another organisation's supplier.
     */
    readonly configureSupplier: (
      code: SupplierCode,
      settings: Partial<SupplierSettings>
    ) => Effect.Effect<Supplier, DoesNotExist | DocumentRootTaken | StorageUnavailable>

    readonly createTeam: (name: string) => Effect.Effect<void, AlreadyExists | StorageUnavailable>
    readonly hasTeam: (name: string) => Effect.Effect<boolean, StorageUnavailable>
    readonly teams: Effect.Effect<ReadonlyArray<string>, StorageUnavailable>

    /** Adds a value to an open code list. An existing value changes nothing. */
    readonly addCode: (list: OpenCodeList, value: string) => Effect.Effect<void, StorageUnavailable>
    /** The values that the operator added, without those of the rules. */
    readonly codeLists: Effect.Effect<CodeLists, StorageUnavailable>
  }
>()("@data-import/domain/ports/Configuration") {}
