/** A name with its value, in a list of facts. */
import type { ComponentChildren } from "preact"

export const Fact = ({ children, name }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
