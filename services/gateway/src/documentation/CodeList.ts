/**
 * Every code that the service answers with, from the registry, as Markdown: its meaning, an example
 * and what to do, under its own heading, so that each code has an anchor.
 */
import { statusOf } from "@data-import/api/StatusOfCode"
import { registry } from "@data-import/domain/codes/Code"
import type { CodeEntry } from "@data-import/domain/codes/CodeEntry"

const statuses: Readonly<Record<string, number>> = statusOf

const entries = Object.entries<CodeEntry>(registry)

const section = (code: string, { example, meaning, remedy }: CodeEntry): string =>
  `#### ${code}\n\n${meaning}\n\n- Example: ${example}\n- What to do: ${remedy}\n`

const sections = (codes: typeof entries) =>
  codes.map(([code, entry]) => section(code, entry)).join("\n")

const answers = Map.groupBy(
  entries.filter(([code, { kind }]) => kind !== "field" && code in statuses),
  ([code]) => statuses[code] ?? 0
)

/** The codes of whole answers by their status, then those of single errors. */
export const codeList = (): string => {
  const byStatus = [...answers]
    .toSorted(([one], [other]) => one - other)
    .map(([status, codes]) => `### Status ${status}\n\n${sections(codes)}`)
  const fields = entries.filter(([, { kind }]) => kind === "field")
  return [
    "## Codes",
    ...byStatus,
    "### Single errors",
    "Each of these stands in `errors`, at the path in its `attr`.",
    sections(fields)
  ].join("\n\n")
}
