/** The link to what is behind the reason of a migration's condition. */
import type { Migration } from "../data/Answers.ts"
import { pages } from "../routing/Paths.ts"

export const evidenceOf = (migration: Migration): string => {
  const { condition, import_supplier, lines_refused, lines_remaining, reason, states } = migration
  const { FAILED, IN_PROGRESS, PENDING } = states
  const page = pages.migration(import_supplier)
  const list = (state: keyof Migration["states"]) => pages.imports(import_supplier, { state })
  switch (condition) {
    case "failing":
      return FAILED > 0 ? pages.problems(import_supplier) : `${page}#batches`
    case "slow":
    case "running":
      return `${page}#progress`
    case "waiting":
      if (PENDING + IN_PROGRESS > 0) return list("PENDING")
      if (FAILED > 0) return pages.problems(import_supplier)
      return lines_refused + lines_remaining > 0 ? `${page}#batches` : `${page}#control-totals`
    case "done":
      return list("IMPORTED")
    case "stuck":
      return `${page}${/batch/i.test(reason) ? "#batches" : "#oldest"}`
    case "paused":
    case "unfinished":
      return pages.imports(import_supplier)
  }
}
