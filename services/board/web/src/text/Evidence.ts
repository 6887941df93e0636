/** The link to what is behind the reason of a migration's condition. */
import type { Migration } from "../data/Answers.ts"
import { pages } from "../routing/Paths.ts"

export const evidenceOf = (migration: Migration): string => {
  const { condition, import_supplier, reason, states } = migration
  const page = pages.migration(import_supplier)
  const list = (state: keyof Migration["states"]) => pages.imports(import_supplier, { state })
  switch (condition) {
    case "failing":
      return pages.problems(import_supplier)
    case "slow":
    case "running":
      return `${page}#progress`
    case "waiting":
      return states.PENDING + states.IN_PROGRESS === 0 && states.FAILED > 0
        ? pages.problems(import_supplier)
        : list("PENDING")
    case "done":
      return list("IMPORTED")
    case "stuck":
      return `${page}${/batch/i.test(reason) ? "#batches" : "#oldest"}`
    case "paused":
      return pages.imports(import_supplier)
  }
}
