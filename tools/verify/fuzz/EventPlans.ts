/** The fixed cases of events: every parameter, and positions that are too old or too high. */
import { get, type Plan, plan, type Expectation } from "./Case.ts"
import { answers, both, errors, has, hasLength } from "./Expectation.ts"
import { rivalSupplier, supplier } from "./TenantNames.ts"

const path = "/v1/data-import/events/"

const asked = (kind: "mutant" | "state", query: string, expect: Expectation): Plan =>
  plan("listEvents", kind, `events with ${query}`, [get(`${path}?${query}`), expect])

const queryErrors: ReadonlyArray<readonly [query: string, error: string]> = [
  ["after=-1", "after min_value"],
  ["after=1.5", "after invalid"],
  ["after=9007199254740992", "after max_value"],
  ["after=9007199254740991", "after max_value"],
  ["after=1&after=2", "after invalid"],
  ["limit=0", "limit min_value"],
  ["limit=1001", "limit max_value"],
  ["wait=21", "wait max_value"],
  ["wait=-1", "wait min_value"],
  ["name=staged", "name invalid_choice"],
  ["name=__proto__", "name invalid_choice"],
  ["import_supplier=%00", "import_supplier invalid"]
]

export const eventCases: ReadonlyArray<Plan> = [
  ...queryErrors.map(([query, error]) =>
    asked("mutant", query, errors("400 request_failed_validation", error))
  ),
  asked("state", "after=0", both(answers("410 events_pruned"), has("oldest_after", 1))),
  asked("state", "after=1&limit=1", both(answers("200"), hasLength("events", 1))),
  asked("state", `after=1&limit=2&import_supplier=${supplier}`, answers("200")),
  asked("state", "wait=20&limit=1", both(answers("200"), hasLength("events", 1))),
  asked(
    "state",
    "name=data_import.import_process.complete-v1&limit=3",
    both(answers("200"), hasLength("events", 3))
  ),
  ...["NOBODY", rivalSupplier, "'", "x".repeat(33)].map((code) =>
    asked("state", `import_supplier=${code}`, answers("404 not_found"))
  )
]
