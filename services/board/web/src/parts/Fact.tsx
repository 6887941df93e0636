/** A name with its value, in a list of facts. */
import type { ComponentChildren } from "preact"

interface Props {
  readonly name: string
  /** Whether its value comes with another answer: its place is kept, so that nothing else moves. */
  readonly isLate?: boolean
  readonly children: ComponentChildren
}

export const Fact = ({ children, isLate = false, name }: Props) => (
  <div class={isLate ? "late" : undefined}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
