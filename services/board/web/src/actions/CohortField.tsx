/** A field for a cohort, which offers those that there are and accepts any other. */
import { useId } from "preact/hooks"
import type { Cohorts } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { answers } from "../routing/Paths.ts"

interface Props {
  readonly supplier: string
  readonly name: string
  readonly value: string
  readonly change: (value: string) => void
}

export const useCohorts = (supplier: string): Cohorts["cohorts"] =>
  useAnswer<Cohorts>(answers.of(supplier, "cohorts/")).value?.cohorts ?? []

export const CohortField = ({ change, name, supplier, value }: Props) => {
  const id = useId()
  return (
    <label class="field">
      <span>{name}</span>
      <input
        type="text"
        list={id}
        value={value}
        maxLength={64}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id={id}>
        {useCohorts(supplier).flatMap(({ cohort }) =>
          cohort === null ? [] : [<option key={cohort} value={cohort} />]
        )}
      </datalist>
    </label>
  )
}
