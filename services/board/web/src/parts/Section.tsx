/** A part of a page under a heading, with a sentence about it and what can be done there. */
import type { ComponentChildren } from "preact"

interface Props {
  readonly id: string
  readonly title: string
  readonly note?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

export const Section = ({ actions, children, class: name = "", id, note, title }: Props) => (
  <section id={id} class={name} aria-labelledby={`${id}-title`}>
    <div class="section-head">
      <h2 id={`${id}-title`}>{title}</h2>
      {note !== undefined && <p>{note}</p>}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
    {children}
  </section>
)
