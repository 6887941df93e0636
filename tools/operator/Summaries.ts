/**
 * The summary of a supplier's imports, and which of them are open.
 * Source: docs/contract/operator.md#summary-of-a-supplier.
 */
import { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import { accounts, expectedAccounts } from "@data-import/domain/migrations/OpenWorkText"
import { summaryBody, unstagedIn } from "@data-import/domain/migrations/SummaryBody"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { type ReadSummary, readSummary } from "@data-import/domain/migrations/SummaryQuery"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { inEnglish, say } from "@data-import/terminal/Answer"
import { summaryText } from "@data-import/terminal/SummaryText"
import { noSupplier, supplierMeant } from "./Mode.ts"
import { asSupplierCode, asText } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const read = Effect.fnUntraced(function* (supplier: SupplierCode, cohort: string | null) {
  const ports = { controlTotals: yield* ControlTotals, summaries: yield* SupplierSummaries }
  return yield* readSummary(ports, supplier, cohort)
})

/** What is open, in words; null if nothing is. */
const sentenceOf = (found: ReadSummary): string | null => {
  const { summary } = found
  const { missing, unexpected } = unstagedIn(found)
  const { FAILED, IN_PROGRESS, PENDING } = summary.states
  const { linesRefused: refused } = summary
  const open = PENDING + FAILED + IN_PROGRESS
  const imports =
    `${inEnglish(open)} open ${open === 1 ? "import" : "imports"}: ${inEnglish(PENDING)} pending, ` +
    `${inEnglish(FAILED)} failed, ${inEnglish(IN_PROGRESS)} in progress`
  const lines = `${inEnglish(refused)} ${refused === 1 ? "line" : "lines"} of batches refused and not corrected`
  const parts = [
    ...(open > 0 ? [imports] : []),
    ...(refused > 0 ? [lines] : []),
    ...(missing > 0 ? [`${expectedAccounts(missing)} never received`] : []),
    ...(unexpected > 0 ? [`${accounts(unexpected)} more than expected`] : [])
  ]
  return parts.length === 0 ? null : parts.join("; ")
}

/** What is open of the supplier, in words; null if nothing is. */
export const openImports = (supplier: SupplierCode) => Effect.map(read(supplier, null), sentenceOf)

export const summary = Command.make(
  "summary",
  {
    code: Argument.String("code").pipe(
      Argument.withDescription("The code of the import supplier"),
      asSupplierCode
    ),
    cohort: Flag.String("cohort").pipe(
      Flag.withDescription("Only imports of this cohort"),
      asText(64),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ code, cohort }) {
    const configuration = yield* Configuration
    const meant = yield* supplierMeant(code)
    if (Option.isNone(yield* configuration.supplier(meant))) return yield* noSupplier(meant)
    const body = summaryBody(yield* read(meant, Option.getOrNull(cohort)))
    yield* say(body, summaryText(body))
  }, onStorage)
).pipe(
  Command.withDescription("Show what the imports of a supplier come to"),
  Command.withExamples([
    {
      command: "operator supplier summary ACME_LEGACY --cohort wave-3",
      description: "Show one cohort"
    }
  ])
)
