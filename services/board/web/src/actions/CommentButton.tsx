/** Adds a comment to a migration, a wave or an account, or notes that a correction file was sent. */
import { useState } from "preact/hooks"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { TextArea } from "./TextArea.tsx"

/** What the comment is about: at most one of the two is given. */
export interface Subject {
  readonly supplier: string
  readonly cohort?: string | undefined
  readonly number?: string | undefined
}

interface DialogProps extends Subject {
  readonly about: "comment" | "corrections_sent"
  readonly close: () => void
}

const CommentDialog = ({ about, close, cohort, number, supplier }: DialogProps) => {
  const act = useAction()
  // The same id makes a retry after a lost answer idempotent: it adds no second comment.
  const [id] = useState(() => crypto.randomUUID())
  const [text, setText] = useState("")
  const isSent = about === "corrections_sent"
  const subject = number ?? (cohort === undefined ? supplier : `${cohort} of ${supplier}`)
  const run = async () => {
    await act(answers.of(supplier, "comments/"), {
      comment_id: id,
      about,
      cohort: cohort ?? null,
      external_account_number: number ?? null,
      text: text.trim()
    })
    return <p>It is kept with your name and the time.</p>
  }
  return (
    <ActionDialog
      title={isSent ? `The corrections of ${subject} were sent` : `Comment on ${subject}`}
      confirm={isSent ? "Note that they were sent" : "Add the comment"}
      isReady={text.trim() !== ""}
      run={run}
      close={close}
    >
      <p>
        {isSent && "It is kept how many accounts and lines the file has now. "}
        Everybody who sees {supplier} reads it. It cannot be changed or deleted: correct it by a
        later comment.{" "}
        {number === undefined
          ? "Do not write personal data: it would stay when a customer is erased."
          : "Its text is erased with the account."}
      </p>
      <TextArea label={isSent ? "Sent to" : "Comment"} value={text} change={setText} />
    </ActionDialog>
  )
}

export const CommentButton = (subject: Subject) => (
  <ActionButton
    name="Comment…"
    dialog={(close) => <CommentDialog {...subject} about="comment" close={close} />}
  />
)

export const SentButton = (subject: Subject) => (
  <ActionButton
    name="Sent…"
    label="Note that the corrections were sent"
    dialog={(close) => <CommentDialog {...subject} about="corrections_sent" close={close} />}
  />
)
