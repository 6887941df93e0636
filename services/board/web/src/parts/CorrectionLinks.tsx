/**
 * Links to what the supplier has to correct, for managers and the supplier, and when that was sent
 * last.
 */
import { personName } from "@data-import/domain/access/PersonName"
import type { ComponentChildren } from "preact"
import { SentButton } from "../actions/CommentButton.tsx"
import type { Comments } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useRole } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { fileText } from "../text/Comments.ts"
import { NotForSupplier } from "./NotForSupplier.tsx"
import { Time } from "./Time.tsx"

interface Of {
  readonly supplier: string
  /** Only accounts and lines of this cohort. */
  readonly cohort?: string
}

interface Props extends Of {
  /** Only errors with this code. */
  readonly code?: string
  /** Only the failed lines of this batch. */
  readonly batch?: string
  /** What the files have. */
  readonly children: ComponentChildren
}

export const CorrectionLinks = ({ batch: batch_id, children, code, cohort, supplier }: Props) => {
  if (useRole() === "viewer") return null
  const query = { batch_id, code, cohort }
  return (
    <span>
      {children}:{" "}
      <a href={answers.of(supplier, "corrections.xlsx", query)} download>
        sheet
      </a>
      ,{" "}
      <a href={answers.of(supplier, "corrections.csv", query)} download>
        CSV
      </a>
      .
    </span>
  )
}

const Sent = ({ cohort, supplier }: Of) => {
  const query = { about: "corrections_sent", cohort, limit: "1" }
  const { value } = useAnswer<Comments>(answers.of(supplier, "comments/", query))
  const [sent] = value?.comments ?? []
  return (
    <span class="past sent">
      {value === undefined
        ? "…"
        : sent === undefined && "It is not noted that they were sent to the supplier."}
      {sent !== undefined && (
        <>
          Sent <Time at={sent.at} /> by {personName(sent.by)} to {sent.text}: {fileText(sent)}
          {cohort === undefined && sent.cohort !== null && ` of ${sent.cohort}`}.
        </>
      )}{" "}
      <SentButton supplier={supplier} cohort={cohort} />
    </span>
  )
}

/** When the file was sent last, by whom and to whom, and a button to note that it was. */
export const CorrectionsSent = (of: Of) => (
  <NotForSupplier>
    <Sent {...of} />
  </NotForSupplier>
)
