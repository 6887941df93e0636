/**
 * What the operator sets up and the programs look up: organisations, suppliers, operations teams
 * and the open code lists. The programs only read; the operator command writes.
 */
import { Context, Data, type DateTime, type Effect, type Option, type Result } from "effect"
import type { CodeLists, OpenCodeList } from "../schema/CodeLists.ts"
import type { Organisation, OrganisationName } from "../organisation/Organisation.ts"
import type {
  Supplier,
  SupplierCode,
  SupplierSettings,
  SupplierStatus
} from "../organisation/Supplier.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** Something of this name exists already. */
export class AlreadyExists extends Data.TaggedError("AlreadyExists")<{
  readonly what: "organisation" | "supplier" | "team"
  readonly name: string
}> {}

/** Nothing of this name exists. */
export class DoesNotExist extends Data.TaggedError("DoesNotExist")<{
  readonly what: "organisation" | "supplier"
  readonly name: string
}> {}

/** The document root overlaps that of `by`, a supplier of another organisation. */
export class DocumentRootTaken extends Data.TaggedError("DocumentRootTaken")<{
  readonly documentRoot: string
  readonly by: Supplier
}> {}

export class Configuration extends Context.Service<
  Configuration,
  {
    readonly createOrganisation: (
      name: OrganisationName,
      at: DateTime.Utc
    ) => Effect.Effect<Organisation, AlreadyExists | StorageUnavailable>
    /** In code point order of the name or code, like the lists below. */
    readonly organisations: Effect.Effect<ReadonlyArray<Organisation>, StorageUnavailable>

    /** Refuses a document root that overlaps that of another organisation's supplier. */
    readonly createSupplier: (
      supplier: Supplier
    ) => Effect.Effect<void, AlreadyExists | DoesNotExist | DocumentRootTaken | StorageUnavailable>
    readonly supplier: (
      code: SupplierCode
    ) => Effect.Effect<Option.Option<Supplier>, StorageUnavailable>
    readonly suppliers: Effect.Effect<ReadonlyArray<Supplier>, StorageUnavailable>
    /** Sets the status that `decide` makes of the present one, under a lock on the supplier. */
    readonly changeSupplierStatus: <E>(
      code: SupplierCode,
      decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
    ) => Effect.Effect<Supplier, E | DoesNotExist | StorageUnavailable>
    /**
     * Sets what is given and leaves the rest; gives the supplier as it is then. Sets nothing where
     * a document root is given that overlaps that of another organisation's supplier.
     */
    readonly configureSupplier: (
      code: SupplierCode,
      settings: Partial<SupplierSettings>
    ) => Effect.Effect<Supplier, DoesNotExist | DocumentRootTaken | StorageUnavailable>

    readonly createTeam: (name: string) => Effect.Effect<void, AlreadyExists | StorageUnavailable>
    readonly hasTeam: (name: string) => Effect.Effect<boolean, StorageUnavailable>
    readonly teams: Effect.Effect<ReadonlyArray<string>, StorageUnavailable>

    /** Adds a value to an open code list. A value that is there already changes nothing. */
    readonly addCode: (list: OpenCodeList, value: string) => Effect.Effect<void, StorageUnavailable>
    /** What the operator added, without the values that the rules name. */
    readonly codeLists: Effect.Effect<CodeLists, StorageUnavailable>
  }
>()("@data-import/domain/ports/Configuration") {}
