/**
 * Shows an answer in each of its states: a skeleton after 200 ms, the answer, why there is none, or
 * an old answer with a note that it could not be refreshed.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Refusal, Unreachable } from "../data/Http.ts"
import { type Answer, refresh } from "../data/Store.ts"
import { clock, ownZone } from "../text/Times.ts"

const patience = 200

const Skeleton = ({ lines }: { readonly lines: number }) => {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patience)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={isShown ? "skeleton" : "skeleton blank"} aria-busy="true">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  )
}

interface Why {
  readonly title: string
  readonly next: string
}

/** What a failure means to the user, and what to do. */
const whyOf = (error: Error): Why => {
  if (error instanceof Unreachable) {
    return { title: "Nothing answers.", next: "It is tried again by itself. You need not reload." }
  }
  if (!(error instanceof Refusal)) return { title: error.message, next: "" }
  const { message, requestId, status } = error
  if (status === 403) {
    return { title: "You may not see this.", next: "Ask whoever gives access to the board." }
  }
  if (status === 404) {
    const next =
      "It does not exist, or it belongs to an organisation that you may not see. " +
      "Ask whoever gives access to the board."
    return { title: "There is nothing here for you.", next }
  }
  const id = requestId === null ? "" : ` Give your operator the request id ${requestId}.`
  return { title: message, next: status >= 500 ? `Try again.${id}` : "" }
}

export const Failure = ({
  again,
  error
}: {
  readonly again?: () => void
  readonly error: Error
}) => {
  const { next, title } = whyOf(error)
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{title}</strong> {next}
      </p>
      {again !== undefined && (
        <button type="button" class="plain" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

interface Props<A> {
  readonly answer: Answer<A>
  readonly lines?: number
  /** Shown instead if the API answers 404. */
  readonly missing?: ComponentChildren
  readonly children: (value: A) => ComponentChildren
}

export const Answered = <A,>({ answer, children, lines = 6, missing }: Props<A>) => {
  const { error, path, receivedAt, value } = answer
  const again = () => void refresh(path)
  if (value === undefined) {
    if (error === null) return <Skeleton lines={lines} />
    const isMissing = error instanceof Refusal && error.status === 404
    return isMissing && missing !== undefined ? (
      <>{missing}</>
    ) : (
      <Failure error={error} again={again} />
    )
  }
  const isOld = error !== null && !(error instanceof Unreachable) && receivedAt !== null
  return (
    <>
      {isOld && (
        <p class="old" role="status">
          As of {clock(receivedAt, ownZone())}: {error.message}
        </p>
      )}
      {children(value)}
    </>
  )
}
