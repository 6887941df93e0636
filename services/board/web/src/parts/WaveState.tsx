/** How far a wave has come: a shape, a word and a colour. */
import type { Wave } from "../data/Answers.ts"
import { leftOf, waveStates } from "../text/Waves.ts"
import { Shape } from "./Condition.tsx"

export const WaveState = ({ wave }: { readonly wave: Wave }) => {
  const { like, meaning, word } = waveStates[wave.state]
  const left = leftOf(wave)
  return (
    <span class={`condition ${like}`} title={meaning}>
      <Shape name={like} />
      {word}
      {left !== "" && `: ${left}`}
    </span>
  )
}
