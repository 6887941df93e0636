/** The request of a button without a dialog. The button is disabled while `isSending`. */
import { useState } from "preact/hooks"

interface Request {
  readonly start: () => void
  readonly isSending: boolean
  /** Why the last one failed. */
  readonly error: Error | null
}

export const useRequest = (send: () => Promise<void>): Request => {
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const run = async () => {
    setSending(true)
    setError(null)
    try {
      await send()
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)))
    }
    setSending(false)
  }
  return { start: () => void run(), isSending, error }
}
