/** A section of a page: a heading, a note, its actions and its content. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { useLocation } from "../routing/Location.tsx"

interface Props {
  readonly id: string
  readonly title: string
  readonly note?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/**
 * Scrolls to the section and focuses it each time a link to it is followed. It waits for a dialog
 * with such a link to close, because nothing behind a modal dialog can have the focus.
 */
const useTarget = (id: string) => {
  const ref = useRef<HTMLHeadingElement>(null)
  const at = useLocation()
  useEffect(() => {
    if (at.hash !== `#${id}`) return undefined
    const timer = setTimeout(() => {
      ref.current?.scrollIntoView()
      ref.current?.focus({ preventScroll: true })
    })
    return () => clearTimeout(timer)
  }, [at, id])
  return ref
}

export const Section = ({ actions, children, class: name = "", id, note, title }: Props) => {
  const ref = useTarget(id)
  return (
    <section id={id} class={name} aria-labelledby={`${id}-title`}>
      <div class="section-head">
        <h2 id={`${id}-title`} ref={ref} tabIndex={-1}>
          {title}
        </h2>
        {note !== undefined && <p>{note}</p>}
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
