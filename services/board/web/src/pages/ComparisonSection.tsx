/** What differs between a certificate and another one of the same migration. */
import {
  differingFigures,
  type Figure,
  type FigurePair,
  hashInWords
} from "@data-import/domain/certificates/CertificateFigures"
import type { Certificate, CertificateList } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { navigate, useLocation } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { coverOf, ofComparison } from "../text/Certificates.ts"
import { count, money, moneyDifference } from "../text/Numbers.ts"
import { absolute, ownZone } from "../text/Times.ts"
import { stateWord } from "../text/Words.ts"

type Content = NonNullable<Certificate["certificate"]>

interface Props {
  readonly supplier: string
  readonly shown: Content
}

const Value = ({ figure }: { readonly figure: Figure | null }) => {
  if (figure === null) return <span class="quiet">none</span>
  const { amount, count: counted, hash, words } = figure
  if (hash !== undefined) return <span class="code words">{hashInWords(hash)}</span>
  const number = counted === undefined ? "" : count(counted)
  if (amount === undefined) return <>{number === "" ? words : number}</>
  return (
    <>
      {money(amount)} {number !== "" && <small>({number})</small>}
    </>
  )
}

const isNumber = (figure: Figure | null): boolean =>
  figure?.count !== undefined || figure?.amount !== undefined

/** From the earlier one to the later one. */
const difference = ({ one, other }: FigurePair): string => {
  if (!isNumber(one) && !isNumber(other)) return "another"
  const by = (one?.count ?? 0) - (other?.count ?? 0)
  const counted = `${by < 0 ? "−" : "+"}${count(Math.abs(by))}`
  if (one?.amount === undefined && other?.amount === undefined) return counted
  const difference = moneyDifference(other?.amount ?? "0.00", one?.amount ?? "0.00")
  return by === 0 ? difference : `${difference} (${counted})`
}

type Row = FigurePair & { readonly section: string }

const columns: ReadonlyArray<Column<Row>> = [
  {
    name: "Figure",
    isHead: true,
    cell: ({ name, section }) => (
      <>
        {stateWord(name)} <small>{section}</small>
      </>
    )
  },
  {
    name: "The other one",
    isNumber: true,
    class: "past",
    cell: ({ other }) => <Value figure={other} />
  },
  { name: "This one", isNumber: true, class: "past", cell: ({ one }) => <Value figure={one} /> },
  { name: "Difference", isNumber: true, class: "past", cell: difference }
]

const Differences = ({ other, shown }: { readonly other: Content; readonly shown: Content }) => {
  const sections = differingFigures(shown, other)
  const rows = sections.flatMap(({ pairs, title }) =>
    pairs.map((pair): Row => ({ ...pair, section: title }))
  )
  return (
    <>
      <p class={rows.length === 0 ? "good past" : "past"}>{ofComparison(sections)}.</p>
      {rows.length > 0 && (
        <Table
          caption="Figures that differ"
          columns={columns}
          rows={rows}
          keyOf={({ name, section }) => `${section} ${name}`}
        />
      )}
    </>
  )
}

const Compared = ({ id, shown, supplier }: Props & { readonly id: string }) => {
  const answer = useAnswer<Certificate>(answers.certificate(supplier, id))
  return (
    <Answered answer={answer} lines={4}>
      {({ certificate }) =>
        certificate ? (
          <Differences shown={shown} other={certificate} />
        ) : (
          <p>That one is not issued.</p>
        )
      }
    </Answered>
  )
}

const nameOf = (each: Certificate): string => {
  const at = absolute(Date.parse(each.requested_at), ownZone())
  return `${each.certificate_id.slice(0, 8)} of ${coverOf(each)}, ${at}`
}

export const ComparisonSection = ({ shown, supplier }: Props) => {
  const { value } = useAnswer<CertificateList>(answers.of(supplier, "certificates/"))
  const chosen = useLocation().query.get("with") ?? ""
  const { certificate_id: own } = shown
  const others = (value?.certificates ?? []).filter(
    ({ certificate_id, status }) => status === "ISSUED" && certificate_id !== own
  )
  const isListed = others.some(({ certificate_id }) => certificate_id === chosen)
  return (
    <Section id="comparison" class="wide" title="Compare with another one">
      <label class="field">
        <span>The other certificate</span>
        <select
          value={chosen}
          onChange={({ currentTarget }) =>
            navigate(pages.certificate(supplier, own, { with: currentTarget.value }))
          }
        >
          <option value="">none</option>
          {chosen !== "" && !isListed && <option value={chosen}>{chosen.slice(0, 8)}</option>}
          {others.map((each) => (
            <option key={each.certificate_id} value={each.certificate_id}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </label>
      {chosen !== "" && <Compared key={chosen} id={chosen} shown={shown} supplier={supplier} />}
    </Section>
  )
}
