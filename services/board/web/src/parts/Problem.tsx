/** A problem: its code and path, its meaning, the remedy, and examples that link to accounts. */
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { count, counted } from "../text/Numbers.ts"
import { plain } from "../text/Words.ts"
import { FieldName } from "./FieldName.tsx"

interface ErrorTextProps {
  readonly detail: string
  readonly business_day: string | null
}

interface Example extends ErrorTextProps {
  readonly external_account_number: string | null
  readonly attr?: string
  readonly line?: number
}

export interface ProblemProps {
  readonly supplier: string
  /** Makes the link to a line in the list of lines. */
  readonly lineTo?: ((line: number) => string) | undefined
  readonly problem: {
    readonly code: string
    readonly attr: string
    readonly meaning: string
    readonly remedy: string
    readonly examples: ReadonlyArray<Example>
  }
}

/** The detail, and a warning where a retry may succeed although nothing was corrected. */
export const ErrorText = ({ business_day: day, detail }: ErrorTextProps) => (
  <span class="error-text">
    {detail}
    {day !== null && <small> Judged by the day {day}: on another day it may be valid.</small>}
  </span>
)

type ExampleProps = Omit<ProblemProps, "problem"> & { readonly example: Example }

const ExampleItem = ({ example, lineTo, supplier }: ExampleProps) => {
  const { attr, external_account_number: number, line } = example
  return (
    <li>
      {line !== undefined && lineTo !== undefined && (
        <>
          <Link to={lineTo(line)}>Line {count(line)}</Link>{" "}
        </>
      )}
      {number !== null && (
        <Link to={pages.account(supplier, number)} class="code">
          {number}
        </Link>
      )}{" "}
      {attr !== undefined && <FieldName path={attr} />} <ErrorText {...example} />
    </li>
  )
}

export const Problem = ({ lineTo, problem, supplier }: ProblemProps) => {
  const { attr, code, examples, meaning, remedy } = problem
  return (
    <>
      <span class="code">{code}</span> at <FieldName path={attr} />
      <small>
        {plain(meaning)} <b>{plain(remedy)}</b>
      </small>
      {examples.length > 0 && (
        <details>
          <summary>{counted(examples.length, "example")}</summary>
          <ul class="examples">
            {examples.map((example, index) => (
              <ExampleItem key={index} example={example} supplier={supplier} lineTo={lineTo} />
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
