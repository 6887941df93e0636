/**
 * A dialog that says what will happen to how many accounts, lines or batches, sends the action and
 * shows its outcome. If it is refused, the dialog says why and what would allow it.
 */
import type { ComponentChildren } from "preact"
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import { isSignedOut, Refusal, Unreachable } from "../data/Http.ts"
import { SessionEnded } from "../data/User.ts"
import { useLocation } from "../routing/Location.tsx"
import { remedyOf } from "../text/Words.ts"

interface Props {
  readonly title: string
  /** What will happen, to how many, and whether it can be undone. */
  readonly children: ComponentChildren
  readonly confirm: string
  /** The text to type as confirmation; none unless given. */
  readonly typed?: string
  readonly isReady?: boolean
  /** Sends the action; resolves to a sentence about its outcome. */
  readonly run: () => Promise<ComponentChildren>
  readonly close: () => void
}

type Course =
  | { readonly name: "asking" | "sending" }
  | { readonly name: "done"; readonly said: ComponentChildren }
  | { readonly name: "refused"; readonly error: unknown }

/** What was entered stays in the dialog, so the user signs in beside it. */
const Ended = () => (
  <p class="failure" role="alert">
    <strong>Your session has ended.</strong>{" "}
    <a href="/board/sign-in/?to=%2Fboard%2F" target="_blank" rel="noreferrer">
      Sign in
    </a>{" "}
    in another tab, and come back: what you entered is kept.
  </p>
)

const Refused = ({ error }: { readonly error: unknown }) => {
  if (error instanceof Refusal) {
    const id = error.requestId === null ? "" : ` Request id: ${error.requestId}.`
    return (
      <p class="failure" role="alert">
        <strong>Not done.</strong> {error.message} {remedyOf(error.code)}
        {error.status >= 500 && id}
      </p>
    )
  }
  const said =
    error instanceof Unreachable
      ? "Nothing answers, so it is not known whether it was done. Look at the audit log first."
      : String(error)
  return (
    <p class="failure" role="alert">
      {said}
    </p>
  )
}

interface TypedProps {
  readonly expected: string
  readonly value: string
  readonly change: (value: string) => void
}

const Typed = ({ change, expected, value }: TypedProps) => (
  <label class="field">
    <span>
      Type <code>{expected}</code> to confirm
    </span>
    <input
      type="text"
      value={value}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  </label>
)

/** Opens the dialog as a modal. Following a link in it closes it. */
const useModal = () => {
  const ref = useRef<HTMLDialogElement>(null)
  const at = useLocation()
  const opened = useRef(at)
  useEffect(() => ref.current?.showModal(), [])
  useEffect(() => {
    if (at !== opened.current) ref.current?.close()
  }, [at])
  return ref
}

/** The second click of a double click would dismiss the outcome of the first. */
const ignoreSecond = (event: MouseEvent) => {
  if (event.detail > 1) event.preventDefault()
}

export const ActionDialog = (props: Props) => {
  const { children, close, confirm, isReady = true, run, title, typed } = props
  const dialog = useModal()
  const id = useId()
  const [course, setCourse] = useState<Course>({ name: "asking" })
  const [word, setWord] = useState("")
  const isEnded = useContext(SessionEnded)
  const isDone = course.name === "done"
  const isSending = course.name === "sending"

  const send = async () => {
    setCourse({ name: "sending" })
    try {
      setCourse({ name: "done", said: await run() })
    } catch (error) {
      setCourse({ name: "refused", error })
    }
  }
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isDone) dialog.current?.close()
          else void send()
        }}
      >
        <h2 id={id}>{title}</h2>
        <div class="dialog-body">
          {isDone ? <div role="status">{course.said}</div> : children}
          {!isDone && typed !== undefined && (
            <Typed expected={typed} value={word} change={setWord} />
          )}
          {!isDone && isEnded && <Ended />}
          {course.name === "refused" && !isSignedOut(course.error) && (
            <Refused error={course.error} />
          )}
        </div>
        <div class="dialog-foot">
          {!isDone && (
            <button type="button" class="plain" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
          )}
          <button
            type="submit"
            class="primary"
            onClick={ignoreSecond}
            disabled={
              !isDone &&
              (isSending || isEnded || !isReady || (typed !== undefined && word !== typed))
            }
          >
            {isDone ? "Close" : isSending ? "Sending…" : confirm}
          </button>
        </div>
      </form>
    </dialog>
  )
}
