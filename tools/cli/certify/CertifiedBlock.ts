/** The settings and the answers of the threads that make the entries of a certificate. */
import type { AccountSums } from "@data-import/domain/certificates/Certificate"
import type { CheckSettings } from "../check/LineCheck.ts"

/** The body of a request that was sent after the import. */
export interface AddedLine {
  /** Its file and line. */
  readonly place: string
  readonly text: string
}

export interface CertifySettings {
  readonly settings: CheckSettings
  /** Leaves out lines of other cohorts; null if all lines count. */
  readonly cohort: string | null
  /** What was added to the accounts, by their numbers. */
  readonly added: ReadonlyMap<string, ReadonlyArray<AddedLine>>
}

/** An account of a line. */
export interface CertifiedLine {
  readonly number: string
  readonly sums: AccountSums
  /** The paths of the documents that it names. */
  readonly documents: ReadonlyArray<string>
  /** The places of additions that the service would refuse. */
  readonly refused: ReadonlyArray<string>
}

/** Null for a line that fails. */
export type CertifiedLines = ReadonlyArray<CertifiedLine | "other_cohort" | null>

export interface CertifiedBlock {
  /** `CertifiedLines` as JSON, which passes between threads faster than objects do. */
  readonly lines: string
  /** The leaf of each line, one behind the other. */
  readonly leaves: Uint8Array<ArrayBuffer>
}

export const leafBytes = 32
