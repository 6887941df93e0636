/** A field for some sentences. */
interface Props {
  readonly label: string
  readonly value: string
  readonly change: (value: string) => void
}

/** As the API takes them. */
const longest = 2_000

export const TextArea = ({ change, label, value }: Props) => (
  <label class="field">
    <span>{label}</span>
    <textarea
      class="prose"
      rows={3}
      maxLength={longest}
      value={value}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  </label>
)
