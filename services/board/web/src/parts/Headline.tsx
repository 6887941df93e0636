/** The headline of a page: its main statement in one sentence. Focused when the page changes. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

let isFirst = true

interface Props {
  /** The title of the window. It must not hold personal data. */
  readonly title: string
  readonly children: ComponentChildren
}

export const Headline = ({ children, title }: Props) => {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} – Migration board`
  }, [title])
  useEffect(() => {
    if (!isFirst && location.hash === "") {
      ref.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst = false
  }, [])
  return (
    <h1 ref={ref} tabIndex={-1}>
      {children}
    </h1>
  )
}
