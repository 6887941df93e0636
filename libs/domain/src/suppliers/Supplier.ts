/**
 * An import supplier: a group of accounts that one organisation migrates, with its settings. Only
 * the operator changes them.
 * Source: docs/contract/operator.md#import-suppliers.
 */
import { Result, Schema } from "effect"
import type { TimeZone } from "./BusinessDay.ts"
import type { Mode, OrganisationName } from "./Organisation.ts"

export const supplierCodeLength = 32

/**
 * Code of an import supplier as clients and the operator write it: 1 to 32 characters without blank
 * around them, compared exactly. It is unique for each mode.
 */
export const WireCode = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(supplierCodeLength)
).pipe(Schema.brand("WireCode"))
export type WireCode = typeof WireCode.Type

/** Prefix of the codes of test suppliers. Codes on the wire are trimmed, so none begins with it. */
const testMark = " "

/**
 * Code of an import supplier as it is stored and looked up, unique in both modes: on the wire a
 * test supplier has the same code without the mark. `codeIn` and `wireCode` convert between them.
 */
export const SupplierCode = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(testMark.length + supplierCodeLength)
).pipe(Schema.brand("SupplierCode"))
export type SupplierCode = typeof SupplierCode.Type

/** The supplier that this code means in this mode. */
export const codeIn = (mode: Mode, code: WireCode): SupplierCode =>
  SupplierCode.make(mode === "test" ? `${testMark}${code}` : code)

export const modeOfSupplier = (code: SupplierCode): Mode =>
  code.startsWith(testMark) ? "test" : "live"

/** Whether it is no supplier for tests: only such ones are migrations. */
export const isLive = ({ code }: { readonly code: SupplierCode }): boolean =>
  modeOfSupplier(code) === "live"

/** A code from the audit log, without the mark. An altered log may have any text. */
export const recordedCode = (text: string): string =>
  text.startsWith(testMark) ? text.slice(testMark.length) : text

export const wireCode = (code: SupplierCode): WireCode => WireCode.make(recordedCode(code))

/** Ongoing accepts accounts; Paused and Complete refuse every write. */
export const SupplierStatus = Schema.Literals(["Ongoing", "Paused", "Complete"])
export type SupplierStatus = typeof SupplierStatus.Type

export interface SupplierSettings {
  /**
   * The folder of the supplier's documents in the bucket, by default the supplier's code. It never
   * overlaps the root of another organisation's supplier.
   */
  readonly documentRoot: string
  /** Whether a document named in a payload must exist in the document store. */
  readonly documentCheck: boolean
  /**
   * Whether customers get e-mails on migration. If so, each new account has an event for the system
   * that sends them; this service sends none.
   */
  readonly customerEmails: boolean
  /** How many imports of this supplier may be processed at once; null for no limit. */
  readonly concurrencyLimit: number | null
  /** The time zone of the supplier's business day, by default UTC. */
  readonly timeZone: TimeZone
  /** For how many days from its creation an account can be reverted; by default 14. */
  readonly revertWindow: number
  /** Whether a wave is a go only once two managers have said so; by default not. */
  readonly fourEyes: boolean
}

export const defaultRevertWindow = 14
export const longestRevertWindow = 3_650

export interface Supplier extends SupplierSettings {
  readonly code: SupplierCode
  readonly organisation: OrganisationName
  readonly status: SupplierStatus
}

const segmentsOf = (root: string): ReadonlyArray<string> =>
  root.split("/").filter((segment) => segment !== "")

/** Whether two document roots are equal or nested. */
const rootsOverlap = (one: string, other: string): boolean => {
  const [ones, others] = [segmentsOf(one), segmentsOf(other)]
  const depth = Math.min(ones.length, others.length)
  return ones.slice(0, depth).every((segment, index) => segment === others[index])
}

/**
 * The first of `suppliers` of another organisation whose document root overlaps that of `supplier`,
 * or undefined. Suppliers of one organisation may share documents.
 */
export const overlappingRoot = (
  supplier: Supplier,
  suppliers: ReadonlyArray<Supplier>
): Supplier | undefined =>
  suppliers.find(
    ({ documentRoot, organisation }) =>
      organisation !== supplier.organisation && rootsOverlap(documentRoot, supplier.documentRoot)
  )

/** A status that the operator may not set. Complete can only be reopened to Ongoing. */
export interface StatusChangeRefused {
  readonly from: SupplierStatus
  readonly to: SupplierStatus
}

/**
 * The status after the operator requested `to`. Ongoing and Paused can change to each other and to
 * Complete. Complete changes to Ongoing only when reopened. The same status changes nothing.
 */
export const changeStatus = (
  from: SupplierStatus,
  to: SupplierStatus,
  reopen: boolean
): Result.Result<SupplierStatus, StatusChangeRefused> => {
  const allowed = from === to || from !== "Complete" || (to === "Ongoing" && reopen)
  return allowed ? Result.succeed(to) : Result.fail({ from, to })
}

/** The outcome in the audit log: the new status, or that it is unchanged. */
export const statusOutcome = (before: SupplierStatus, after: SupplierStatus): string =>
  before === after ? "unchanged" : after.toLowerCase()

/** The outcome in the audit log: the names of the settings that were set. */
export const settingsOutcome = (settings: Partial<SupplierSettings>): string => {
  const names = Object.keys(settings).map((name) =>
    name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
  )
  return `set ${names.toSorted().join(" ")}`
}
