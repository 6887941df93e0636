/** How many imports are in each state, and whether the numbers sum up to the total. */
import type { States as Counts } from "../data/Answers.ts"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { sumOf } from "../text/Headlines.ts"
import { count, share } from "../text/Numbers.ts"
import { stateOrder, states as words } from "../text/Words.ts"

interface Props {
  readonly supplier: string
  readonly states: Counts
  readonly total: number
}

export const States = ({ states, supplier, total }: Props) => {
  const sum = sumOf(states)
  return (
    <dl class="states" aria-label="Accounts by state">
      {stateOrder.map((state, index) => (
        <div key={state} class={states[state] === 0 ? "none" : state.toLowerCase()}>
          <dt title={words[state].meaning}>
            {index > 0 && <span aria-hidden="true">+ </span>}
            {words[state].word}
          </dt>
          <dd>
            <Link to={pages.imports(supplier, { state })}>{count(states[state])}</Link>{" "}
            <small class="share">{share(states[state], total)}</small>
          </dd>
        </div>
      ))}
      <div class="sum">
        <dt>
          <span aria-hidden="true">= </span>All
        </dt>
        <dd>
          <Link to={pages.imports(supplier)}>{count(total)}</Link>{" "}
          {sum !== total && <small class="bad">✗ the states come to {count(sum)}</small>}
          {sum === total && total > 0 && <small class="good">✓ adds up</small>}
        </dd>
      </div>
    </dl>
  )
}
