/** What an action on selected accounts would do, asked once when its dialog opens. */
import { useEffect, useState } from "preact/hooks"
import type { ProcessPreview } from "../data/Answers.ts"
import { usePost } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import type { Selection } from "../text/Selections.ts"

interface Preview {
  readonly value?: ProcessPreview
  /** Why there is none. */
  readonly error?: Error
}

export const usePreview = (supplier: string, selection: Selection): Preview => {
  const post = usePost()
  const [preview, setPreview] = useState<Preview>({})
  useEffect(() => {
    const ask = async () => {
      try {
        const value = await post(answers.of(supplier, "process/preview/"), { selection })
        setPreview({ value: value as ProcessPreview })
      } catch (failure) {
        setPreview({ error: failure instanceof Error ? failure : new Error(String(failure)) })
      }
    }
    void ask()
  }, [])
  return preview
}
