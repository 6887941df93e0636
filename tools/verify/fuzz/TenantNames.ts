/** Names of the suppliers and accounts that the fuzzer sets up, the same in every run. */
import { AccountNumber } from "@data-import/domain/accounts/Account"

/** Ongoing, and its documents are not looked up. */
export const supplier = "FUZZ"
/** Ongoing, and its documents are looked up. */
export const checkedSupplier = "DEMO_ENERGY"
/** Ongoing, of the rival. */
export const rivalSupplier = "RIVAL_ENERGY"
export const pausedSupplier = "DEMO_PAUSED"
export const completeSupplier = "DEMO_COMPLETE"
/** A supplier whose limit is always used up, so none of its accounts can be processed. */
export const fullSupplier = "FUZZ_FULL"
/** A supplier for which only requests that are hidden in others would stage anything. */
export const hiddenSupplier = "FUZZ_HIDDEN"
/** A supplier with one imported account, which no request changes. */
export const readSupplier = "FUZZ_READ"
/** The number of that account. */
export const readAccount = AccountNumber.make("A-0F0F0F0F")
/** A vendor that requests may name and that has no adapter. */
export const absentVendor = "FUZZ_VENDOR"

export const stagePath = "/v1/data-import/account-import-process/create-or-update/"
export const processPath = "/v1/data-import/account-import-process/process/"

/** Accounts of `supplier` that are imported, from the sample payload. */
export const imported: ReadonlyArray<string> = Array.from({ length: 16 }, (_, n) => `imported-${n}`)
/** Staged and never processed, of `supplier` and `fullSupplier`. */
export const staged = "staged"
/** Staged, and imported only if an altered request creates it. */
export const dryRun = "dryRun"
/** Marked to be skipped. */
export const skipped = "skipped"
/** Erased after it was imported. */
export const erased = "erased"
/** In the middle of an attempt that never ends. */
export const held = "held"

/** The first day on which a transaction of an imported account need not be moved. */
export const openSince = "2025-03-01"
