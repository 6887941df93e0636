/**
 * What users of the board are told of: a condition that holds, until it ceases, or an event that
 * has happened. Texts have counts and names of cohorts, and no personal data.
 * Source: docs/contract/board.md#kinds-of-alerts.
 */
import type { DateTime } from "effect"
import { type SupplierCode, wireCode } from "../suppliers/Supplier.ts"

export const alertKinds = [
  "stuck",
  "failing",
  "late",
  "wave_finished",
  "certificate_differs"
] as const
export type AlertKind = (typeof alertKinds)[number]

/** What an alert is about. Alerts with the same subject are about the same thing. */
export interface AlertSubject {
  readonly kind: AlertKind
  readonly supplier: SupplierCode
  /**
   * The percentage of `failing`, the cohort, or the id of the certificate; empty for the migration
   * as a whole.
   */
  readonly what: string
}

export interface Finding extends AlertSubject {
  readonly reason: string
  /** Null for a condition, which holds now. */
  readonly happenedAt: DateTime.Utc | null
}

/** What a message says of an alert. */
export type Told = Pick<Finding, "kind" | "supplier" | "what" | "reason">

const titles: Readonly<Record<AlertKind, (name: string, what: string) => string>> = {
  stuck: (name) => `${name} is stuck`,
  failing: (name) => `${name} is failing`,
  late: (name) => `${name} is behind its plan`,
  wave_finished: (name, cohort) => `${name}: ${cohort} is finished`,
  certificate_differs: (name) => `${name}: a certificate differs`
}

export const titleOf = ({ kind, supplier, what }: Told): string =>
  titles[kind](wireCode(supplier), what)

/** The page of the board about it. */
export const pathOf = ({ kind, supplier, what }: Told): string => {
  const migration = `/board/migrations/${encodeURIComponent(wireCode(supplier))}/`
  if (kind === "wave_finished") {
    return `${migration}go-no-go/?${new URLSearchParams({ cohort: what }).toString()}`
  }
  return kind === "certificate_differs" && what !== ""
    ? `${migration}certificates/${what}/`
    : migration
}
