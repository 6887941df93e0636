/** What a sign-off rests on beside the open items: control totals, and the waves as decided. */
import type { ControlTotalsList, Waves } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { WaveState } from "../parts/WaveState.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { totalsToSign } from "../text/ControlTotals.ts"
import { decidedText } from "../text/Waves.ts"

interface Props {
  readonly supplier: string
}

export const SignedTotals = ({ supplier }: Props) => {
  const answer = useAnswer<ControlTotalsList>(answers.of(supplier, "control-totals/"))
  return (
    <Answered answer={answer} lines={1}>
      {({ totals }) => {
        const rows = totalsToSign(totals)
        if (rows.length === 0) return <p>No control totals are entered.</p>
        return (
          <>
            <p>Control totals:</p>
            <ul>
              {rows.map(({ arrived, difference, expected, isEqual, name, of }) => (
                <li key={name}>
                  <Link to={of}>{name}</Link>: {expected.text} expected, {arrived.text} arrived,{" "}
                  <Link to={difference.to} class={isEqual ? "good" : "bad"}>
                    {isEqual ? "✓ no difference" : `✗ ${difference.text}`}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )
      }}
    </Answered>
  )
}

export const SignedWaves = ({ supplier }: Props) => {
  const answer = useAnswer<Waves>(answers.of(supplier, "waves/"))
  return (
    <Answered answer={answer} lines={1}>
      {({ waves }) =>
        waves.length > 0 && (
          <>
            <p>Waves:</p>
            <ul>
              {waves.map((wave) => (
                <li key={wave.cohort}>
                  <Link to={pages.wave(supplier, wave.cohort)}>{wave.cohort}</Link>:{" "}
                  <WaveState supplier={supplier} wave={wave} />, {decidedText(wave)}
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Answered>
  )
}
