/**
 * The programme as a document to print: counts and sums, without personal data.
 * Source: docs/contract/board.md#programme.
 */
import { personName } from "../access/PersonName.ts"
import { accounts as accountsText, inEnglish } from "../migrations/OpenWorkText.ts"
import type { ProgrammeAnswer } from "./ProgrammeBoard.ts"
import type { SummaryDocument, SummaryRow, SummarySection } from "./SummaryDocument.ts"

/** How many fixes are told together. */
const firstFixes = 5

/** The word of the pages, which say of a batch that it is unfinished. */
const conditionWord = (condition: string): string =>
  condition === "unfinished" ? "left open" : condition

const doneRows = ({ forecast, plan }: ProgrammeAnswer): ReadonlyArray<SummaryRow> => {
  const { of, whole, without } = forecast
  const last = plan.points.at(-1)
  return [
    ["Migrations with a forecast", of],
    ["Migrations with open work and no forecast", without],
    ...(whole === null
      ? []
      : ([
          ["The last of them is done, median", whole.at],
          ["One of ten times before", whole.low],
          ["Nine of ten times by", whole.high]
        ] as const)),
    ["Migrations with a plan", plan.migrations],
    ["Planned by now", plan.now],
    ["Imported of these", plan.imported],
    ...(last === undefined ? [] : ([[`Planned by ${last.on}`, last.accounts]] as const))
  ]
}

const moneyRows = ({ money, untied }: ProgrammeAnswer): ReadonlyArray<SummaryRow> => {
  const { added, certified, expected, imported } = money
  return [
    ["All accounts as imported", imported],
    ["Added since", added],
    [`Expected of ${expected.migrations} migrations`, expected.balance],
    ["Arrived of these", expected.arrived],
    ["Of these with another balance", expected.differ],
    [`Certified accounts of ${certified.migrations} migrations`, certified.accounts],
    ...(certified.balance === null ? [] : ([["Certified balance", certified.balance]] as const)),
    ["Migrations whose money does not add up", untied]
  ]
}

const problemSection = ({ problems }: ProgrammeAnswer): SummarySection => {
  const { failed, groups, of } = problems
  const cleared = groups[Math.min(firstFixes, groups.length) - 1]?.cleared ?? 0
  return {
    title: "Problems of failed accounts",
    rows: [
      ...groups.map(({ attr, code, imports, suppliers }): SummaryRow => [
        `${code} at ${attr}, of ${suppliers.length} migrations`,
        imports
      ]),
      ["Cleared by the first five", cleared]
    ],
    note: `Counted in ${inEnglish(of)} of ${inEnglish(failed)} failed accounts.`
  }
}

const sinceRows = ({ since, states }: ProgrammeAnswer): ReadonlyArray<SummaryRow> => [
  ["Accounts imported", since.imported],
  ["Failed then", since.failed_before],
  ["Failed now", states.FAILED],
  ...since.conditions.map(({ from, import_supplier, to }): SummaryRow => [
    import_supplier,
    `${conditionWord(from)}, now ${conditionWord(to)}`
  ]),
  ...since.waves.map(({ cohort, import_supplier }): SummaryRow => [
    `${import_supplier}, ${cohort}`,
    "wave ended"
  ]),
  ...since.signed_off.map(({ by, import_supplier }): SummaryRow => [
    import_supplier,
    `signed off by ${personName(by)}`
  ])
]

export const programmeDocument = (answer: ProgrammeAnswer): SummaryDocument => ({
  title: "Programme of migrations",
  sections: [
    {
      title: "Migrations",
      rows: [
        ["Organisation", answer.organisation ?? "all"],
        ["As of", answer.at],
        ["Migrations", answer.migrations],
        ...Object.entries(answer.conditions).flatMap(([name, count]): ReadonlyArray<SummaryRow> =>
          count > 0 ? [[conditionWord(name), count]] : []
        )
      ]
    },
    {
      title: "Accounts",
      rows: [
        ...Object.entries(answer.states),
        ["Total", answer.total],
        ["Refused lines", answer.lines_refused],
        ["Expected accounts never received", answer.accounts_missing]
      ]
    },
    {
      title: "Done by when",
      rows: doneRows(answer),
      note: "Each forecast is taken to be independent of the others."
    },
    {
      title: "Money",
      rows: moneyRows(answer),
      note: "Amounts have no currency, because none is sent: add up only what has the same."
    },
    problemSection(answer),
    { title: `Since ${answer.since.at}`, rows: sinceRows(answer) },
    {
      title: "Waves of the coming two weeks",
      rows: answer.ahead.map(({ accounts, cohort, import_supplier, owner, starts_on }) => [
        `${starts_on}, ${import_supplier}, ${cohort}`,
        [accounts === null ? "" : accountsText(accounts), owner ?? ""].filter(Boolean).join(", ")
      ])
    }
  ],
  signatures: []
})
