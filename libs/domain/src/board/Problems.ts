/**
 * The errors of failed imports, grouped so that few fixes clear many imports.
 * Source: docs/contract/board.md#problems.
 */
import { Order } from "effect"
import { clearedLines } from "../batches/Problems.ts"
import type { CodeCount } from "../migrations/SupplierSummary.ts"
import { fieldCodes } from "../codes/FieldCodes.ts"
import type { FailedImport } from "../migrations/ImportSearch.ts"
import { withoutIndexes } from "../schema/FieldErrors.ts"
import { type SupplierCode, wireCode } from "../suppliers/Supplier.ts"
import { wholePayload } from "../schema/Rules.ts"
import { explained } from "./MigrationBodies.ts"
import { maskedError, maskedPath } from "./Masking.ts"

/** The most failed imports that are read; with more, it is a sample. */
export const importsSampled = 2_000

/** Whether the code is an outcome of an import. Its errors have codes of fields. */
const isOutcome = ({ code }: Pick<CodeCount, "code">): boolean => !Object.hasOwn(fieldCodes, code)

type Counted = Pick<CodeCount, "code" | "imports">

/** How many imports to sample of each outcome: in proportion to its frequency, and at least one. */
export const shares = (codes: ReadonlyArray<Counted>, sampled = importsSampled) => {
  const outcomes = codes.filter(isOutcome)
  const failed = outcomes.reduce((sum, { imports }) => sum + imports, 0)
  return outcomes.map(({ code, imports }) => ({
    code,
    limit: Math.ceil(failed <= sampled ? imports : (imports * sampled) / failed)
  }))
}

const groupsShown = 100
const examplesShown = 3

/** Stands for errors beyond those stored. No group has it, so such an import is never cleared. */
const further = { code: "", attr: "" }

interface Problem {
  readonly code: string
  /** With `*` for list indexes. */
  readonly attr: string
}

interface Group extends Problem {
  readonly imports: ReadonlyArray<{ readonly failed: FailedImport; readonly path: string }>
}

/** The errors of an import, or its outcome if it has none. */
const errorsOf = ({ errors, outcome }: FailedImport): FailedImport["errors"] =>
  errors.length > 0 ? errors : [{ code: outcome, attr: wholePayload }]

const problemsOf = (failed: FailedImport): ReadonlyArray<Problem> => [
  ...new Map(
    errorsOf(failed).map(({ attr, code }) => {
      const problem = { code, attr: withoutIndexes(attr) }
      return [JSON.stringify(problem), problem]
    })
  ).values(),
  ...(failed.hasMore ? [further] : [])
]

const byFrequency: Order.Order<Group> = Order.combineAll([
  Order.mapInput(Order.flip(Order.Number), ({ imports }) => imports.length),
  Order.mapInput(Order.String, ({ code }) => code),
  Order.mapInput(Order.String, ({ attr }) => attr)
])

const groupsOf = (imports: ReadonlyArray<FailedImport>): ReadonlyArray<Group> => {
  const groups = new Map<string, Problem & { readonly imports: Array<Group["imports"][number]> }>()
  for (const failed of imports) {
    const seen = new Set<string>()
    for (const { attr: path, code } of errorsOf(failed)) {
      const problem = { code, attr: withoutIndexes(path) }
      const key = JSON.stringify(problem)
      if (seen.has(key)) continue
      seen.add(key)
      const group = groups.get(key) ?? { ...problem, imports: [] }
      groups.set(key, group)
      group.imports.push({ failed, path })
    }
  }
  return [...groups.values()].toSorted(byFrequency).slice(0, groupsShown)
}

/** The account numbers of imports whose problems are all among the first `first`. */
export const clearedBy = (
  imports: ReadonlyArray<FailedImport>,
  first: number
): ReadonlyArray<string> => {
  const keys = new Set(
    groupsOf(imports)
      .slice(0, first)
      .map(({ attr, code }) => JSON.stringify({ code, attr }))
  )
  return imports
    .filter((failed) => problemsOf(failed).every((each) => keys.has(JSON.stringify(each))))
    .map(({ number }) => number)
}

const exampleBody =
  ({ attr, code }: Problem) =>
  ({ failed, path }: Group["imports"][number]) => {
    const error = failed.errors.find(
      (each) => each.code === code && withoutIndexes(each.attr) === attr
    )
    return {
      external_account_number: failed.number as string,
      ...maskedError(code, error?.detail, error?.parameters?.business_day),
      attr: maskedPath(path)
    }
  }

/** How many failed imports the first n of the groups clear, for each n. */
const clearedOf = (
  groups: ReadonlyArray<Group>,
  imports: ReadonlyArray<FailedImport>
): ReadonlyArray<number> =>
  clearedLines({
    groups,
    sets: imports.map((each) => ({ problems: problemsOf(each), lines: 1 }))
  })

/** Failed imports of a supplier. */
interface OfSupplier {
  readonly supplier: SupplierCode
  readonly failed: number
  readonly imports: ReadonlyArray<FailedImport>
}

/** How many failed imports to sample of each supplier, in proportion. */
export const sharesOfSuppliers = <Of extends SupplierCode>(
  codes: ReadonlyArray<Counted & { readonly supplier: Of }>
) => {
  const failedIn = (of: ReadonlyArray<Counted>) =>
    of.filter(isOutcome).reduce((sum, { imports }) => sum + imports, 0)
  const all = failedIn(codes)
  return [...Map.groupBy(codes, ({ supplier }) => supplier)].map(([supplier, own]) => {
    const failed = failedIn(own)
    const sampled = Math.ceil((importsSampled * failed) / Math.max(1, all))
    return { supplier, failed, ofCodes: shares(own, all <= importsSampled ? failed : sampled) }
  })
}

const groupsOfProgramme = 20

/** The problems of several suppliers, each with those that have it. */
export const problemsOfSuppliers = (found: ReadonlyArray<OfSupplier>) => {
  const imports = found.flatMap((each) => each.imports)
  const supplierOf = new Map(
    found.flatMap(({ imports: own, supplier }) => own.map((each) => [each, supplier] as const))
  )
  const groups = groupsOf(imports)
  const cleared = clearedOf(groups, imports)
  return {
    failed: found.reduce((sum, { failed }) => sum + failed, 0),
    of: imports.length,
    more: Math.max(0, groups.length - groupsOfProgramme),
    groups: groups.slice(0, groupsOfProgramme).map((group, index) => {
      const by = Map.groupBy(group.imports, ({ failed }) => supplierOf.get(failed))
      const suppliers = [...by].flatMap(([supplier, own]) =>
        supplier === undefined ? [] : [{ import_supplier: wireCode(supplier), imports: own.length }]
      )
      return {
        code: group.code,
        attr: maskedPath(group.attr),
        ...explained(group.code),
        imports: group.imports.length,
        cleared: cleared[index] ?? 0,
        suppliers: suppliers.toSorted((one, other) => other.imports - one.imports)
      }
    })
  }
}

export const problemsBody = (failed: number, imports: ReadonlyArray<FailedImport>) => {
  const groups = groupsOf(imports)
  const cleared = clearedOf(groups, imports)
  return {
    failed,
    of: imports.length,
    groups: groups.map((group, index) => ({
      code: group.code,
      attr: maskedPath(group.attr),
      ...explained(group.code),
      imports: group.imports.length,
      cleared: cleared[index] ?? 0,
      examples: group.imports.slice(0, examplesShown).map(exampleBody(group))
    }))
  }
}
