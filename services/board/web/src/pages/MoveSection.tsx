/** A move above the list of its accounts: from where to where, by whom, and its undo. */
import { UndoMoveButton } from "../actions/UndoMoveButton.tsx"
import type { MoveDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { cohortName, movedText } from "../text/Moves.ts"
import { counted } from "../text/Numbers.ts"
import { Who } from "../parts/Who.tsx"

interface Props {
  readonly supplier: string
  readonly move: string
}

const Other = ({ move, supplier, text }: Props & { readonly text: string }) => (
  <Link to={pages.imports(supplier, { move })}>{text}</Link>
)

const Body = ({ move, supplier }: { readonly move: MoveDetail; readonly supplier: string }) => (
  <>
    <p>
      Moved {movedText(move)}, by <Who who={move.by} /> <Time at={move.at} />.{" "}
      {move.undoes !== null && (
        <Other supplier={supplier} move={move.undoes} text="It undoes an earlier move." />
      )}
      {move.undone_by !== null && (
        <Other supplier={supplier} move={move.undone_by} text="It was undone." />
      )}
    </p>
    {move.from.length > 1 && (
      <ul>
        {move.from.map(({ accounts, cohort }) => (
          <li key={cohort ?? ""}>
            {counted(accounts, "account")} from {cohortName(cohort)}
          </li>
        ))}
      </ul>
    )}
    <UndoMoveButton supplier={supplier} move={move} />
  </>
)

export const MoveSection = ({ move, supplier }: Props) => {
  const answer = useAnswer<MoveDetail>(answers.of(supplier, `moves/${encodeURIComponent(move)}/`))
  return (
    <Answered answer={answer} lines={2}>
      {(value) => <Body supplier={supplier} move={value} />}
    </Answered>
  )
}
