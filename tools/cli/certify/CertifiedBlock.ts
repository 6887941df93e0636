/** The settings and the answers of the threads that make the entries of a certificate. */
import type { Totals } from "@data-import/domain/certificates/CertifiedSums"
import type { Block } from "../book/Block.ts"
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
  /** The numbers of accounts that are left out. */
  readonly except: ReadonlySet<string>
  /** What was added to the accounts, by their numbers. */
  readonly added: ReadonlyMap<string, ReadonlyArray<AddedLine>>
}

/** Lines of a book, and which of them the sums leave out. */
export interface CertifiedPart extends Block {
  /** By their indexes in the block. */
  readonly without?: ReadonlySet<number>
}

export interface CertifiedBlock {
  /** By line: the number of its account; null if the line is not in the tree. */
  readonly numbers: ReadonlyArray<string | null>
  /** The leaf of each line, one behind the other. */
  readonly leaves: Uint8Array<ArrayBuffer>
  /** The indexes of the lines that fail. */
  readonly failed: ReadonlyArray<number>
  readonly otherCohorts: number
  readonly excepted: number
  /** Over its accounts. */
  readonly sums: Totals
  /** The paths of the documents that its accounts name. */
  readonly documents: ReadonlySet<string>
  /** The places of additions that the service would refuse. */
  readonly refused: ReadonlyArray<string>
  /** The lines, which a thread gives back. */
  readonly bytes: Block["bytes"]
}

export const leafBytes = 32
