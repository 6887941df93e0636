/** How far a wave has come: a shape, a word and a colour, and what is left of it. */
import type { Wave } from "../data/Answers.ts"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { leftOf, waveStates } from "../text/Waves.ts"
import { Shape } from "./Condition.tsx"

interface Props {
  readonly supplier: string
  readonly wave: Wave
}

export const WaveState = ({ supplier, wave }: Props) => {
  const { like, meaning, word } = waveStates[wave.state]
  const left = leftOf(wave)
  return (
    <>
      <span class={`condition ${like}`} title={meaning}>
        <Shape name={like} />
        {word}
      </span>
      {left !== "" && (
        <>
          {": "}
          <Link to={pages.imports(supplier, { cohort: wave.cohort })}>{left}</Link>
        </>
      )}
    </>
  )
}
