/** The audit log: filtered, a page at a time, and as a CSV file. */
import { useEffect } from "preact/hooks"
import type { Audit } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { AuditTable } from "../parts/AuditTable.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Pager, usePaging } from "../parts/Pager.tsx"
import { Link, navigate, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { sentFields } from "../routing/sentFields.ts"
import { actions, ofAudit } from "../text/AuditWords.ts"
import { endOfDate, ownZone } from "../text/Times.ts"
import { useNow } from "../data/Now.ts"

const day = 86_400_000
const names = [
  "import_supplier",
  "external_account_number",
  "who",
  "people",
  "action",
  "from",
  "to"
] as const
type Filter = Readonly<Record<(typeof names)[number], string>>

const filterOf = (query: URLSearchParams): Filter => {
  const value = (name: string) => query.get(name) ?? ""
  return {
    import_supplier: value("import_supplier"),
    external_account_number: value("external_account_number"),
    who: value("who"),
    people: value("people"),
    action: value("action"),
    from: value("from"),
    to: value("to")
  }
}

const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`

/** The query. Days in the user's zone become instants: the start of `from` and the end of `to`. */
const asked = (filter: Filter): Readonly<Record<string, string>> => ({
  ...filter,
  from: filter.from === "" ? "" : instant(endOfDate(filter.from, ownZone()) - day),
  to: filter.to === "" ? "" : instant(endOfDate(filter.to, ownZone()))
})

const fields = [
  ["import_supplier", "Supplier", "text"],
  ["external_account_number", "Account", "text"],
  ["who", "Who", "text"],
  ["action", "Action", "choice"],
  ["from", "From", "date"],
  ["to", "Until", "date"]
] as const

const FilterForm = ({ filter }: { readonly filter: Filter }) => (
  <form
    class="toolbar"
    role="search"
    onSubmit={(event) => {
      event.preventDefault()
      navigate(pages.audit(sentFields(event.currentTarget, names)))
    }}
  >
    {fields.map(([name, label, type]) => (
      <label class="field" key={`${name} ${filter[name]}`}>
        <span>{label}</span>
        {type === "choice" ? (
          <select name={name} defaultValue={filter[name]}>
            <option value="">Any</option>
            {Object.entries(actions).map(([action, word]) => (
              <option key={action} value={action} selected={action === filter[name]}>
                {`${action} – ${word}`}
              </option>
            ))}
          </select>
        ) : type === "date" ? (
          <input name={name} type="date" defaultValue={filter[name]} />
        ) : (
          <input name={name} type="text" defaultValue={filter[name]} spellcheck={false} />
        )}
      </label>
    ))}
    <label class="check" key={`people ${filter.people}`}>
      <input name="people" type="checkbox" value="true" defaultChecked={filter.people === "true"} />
      People only
    </label>
    <button type="submit">Show</button>
    <Link to={pages.audit()}>Clear</Link>
    <a href={answers.auditFile(asked(filter))} download>
      Export as CSV
    </a>
  </form>
)

const Pages = ({ filter }: { readonly filter: Filter }) => {
  const now = useNow()
  const paging = usePaging<string>()
  const { position: before } = paging
  const answer = useAnswer<Audit>(answers.audit({ ...asked(filter), before, limit: "100" }))
  const { value } = answer
  const title =
    value === undefined
      ? before === null
        ? "Audit"
        : "Searching older entries"
      : ofAudit(value, before === null, now)
  const isEmpty = value?.stopped === true && value.entries.length === 0
  const older = isEmpty ? value.next_before : null
  useEffect(() => {
    if (older !== null) paging.skip(older)
  }, [older])
  return (
    <>
      <Headline title="Audit">{title}</Headline>
      <FilterForm filter={filter} />
      <Answered answer={answer} lines={12}>
        {({ entries, next_before, stopped }) => (
          <>
            {entries.length > 0 && <AuditTable entries={entries} isOfAll />}
            <Pager
              paging={paging}
              next={next_before}
              words={{ back: "Newer", next: stopped ? "Search on" : "Older" }}
            />
          </>
        )}
      </Answered>
    </>
  )
}

export const AuditPage = () => {
  const filter = filterOf(useLocation().query)
  return <Pages key={JSON.stringify(filter)} filter={filter} />
}
