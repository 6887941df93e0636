/** A field for the operations team that a batch acts for. */
import type { Teams } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { answers } from "../routing/Paths.ts"

interface Props {
  readonly value: string
  readonly change: (team: string) => void
}

export const useTeams = (): ReadonlyArray<string> =>
  useAnswer<Teams>(answers.teams).value?.teams ?? []

export const TeamField = ({ change, value }: Props) => {
  const teams = useTeams()
  return (
    <label class="field">
      <span>Operations team</span>
      <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {teams.map((team) => (
          <option key={team} value={team}>
            {team}
          </option>
        ))}
      </select>
    </label>
  )
}
