/** How far a wave has come: a shape, a word and a colour. */
import type { Wave } from "../data/Answers.ts"
import { waveStates } from "../text/Waves.ts"
import { Shape } from "./Condition.tsx"

export const WaveState = ({ state }: Pick<Wave, "state">) => {
  const { like, meaning, word } = waveStates[state]
  return (
    <span class={`condition ${like}`} title={meaning}>
      <Shape name={like} />
      {word}
    </span>
  )
}
