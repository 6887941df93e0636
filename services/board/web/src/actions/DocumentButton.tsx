/** Asks for a link to a document. Links expire, so one is made only on request. */
import { useState } from "preact/hooks"
import type { DocumentLink } from "../data/Answers.ts"
import { useAction, useIsManager } from "../data/User.ts"
import { Time } from "../parts/Time.tsx"
import { answers } from "../routing/Paths.ts"
import { useRequest } from "./useRequest.ts"

interface Props {
  readonly supplier: string
  readonly number: string
  /** Masked, so the request sends `place` instead. */
  readonly path: string
  readonly place: number
}

export const DocumentButton = ({ number, path, place, supplier }: Props) => {
  const act = useAction()
  const [link, setLink] = useState<DocumentLink | null>(null)
  const asking = useRequest(async () => {
    const to = answers.account(supplier, number, "document-links/")
    setLink((await act(to, { document: place })) as DocumentLink)
  })
  if (!useIsManager()) return null
  if (link !== null) {
    return (
      <>
        <a href={link.url} target="_blank" rel="noreferrer">
          Open
        </a>{" "}
        <small>
          ends <Time at={link.expires_at} />
        </small>
      </>
    )
  }
  return (
    <>
      <button
        type="button"
        class="action"
        aria-label={`Link to document ${place + 1}, ${path}`}
        disabled={asking.isSending}
        onClick={asking.start}
      >
        Link
      </button>
      {asking.error !== null && (
        <span class="bad" role="alert">
          {asking.error.message}
        </span>
      )}
    </>
  )
}
