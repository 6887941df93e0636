/** Where the browser is, and links that change it without loading the page again. */
import type { ComponentChildren, TargetedMouseEvent } from "preact"
import { useEffect, useState } from "preact/hooks"
import { useIsSupplier } from "../data/User.ts"
import { isClosedToSupplier } from "./Paths.ts"

const moved = new EventTarget()

const current = () => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
  hash: location.hash
})

/** Goes to an address of the board. `replace` leaves no entry in the history. */
export const navigate = (to: string, replace = false): void => {
  if (replace) history.replaceState(null, "", to)
  else history.pushState(null, "", to)
  moved.dispatchEvent(new Event("moved"))
}

export const useLocation = () => {
  const [at, setAt] = useState(current)
  useEffect(() => {
    const follow = () => setAt(current())
    moved.addEventListener("moved", follow)
    addEventListener("popstate", follow)
    return () => {
      moved.removeEventListener("moved", follow)
      removeEventListener("popstate", follow)
    }
  }, [])
  return at
}

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

const follow = (event: TargetedMouseEvent<HTMLAnchorElement>): void => {
  if (!isPlain(event) || event.defaultPrevented) return
  event.preventDefault()
  const { hash, pathname, search } = event.currentTarget
  navigate(pathname + search + hash)
}

interface LinkProps {
  readonly to: string
  readonly children: ComponentChildren
  readonly class?: string | undefined
  readonly label?: string | undefined
  readonly isCurrent?: boolean
}

/** A link to a page of the board; only its text, if the user may not see that page. */
export const Link = ({ children, class: name, isCurrent = false, label, to }: LinkProps) => {
  const isSupplier = useIsSupplier()
  if (isSupplier && isClosedToSupplier(to)) return <span class={name}>{children}</span>
  return (
    <a
      href={to}
      class={name}
      aria-label={label}
      aria-current={isCurrent ? "page" : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}
