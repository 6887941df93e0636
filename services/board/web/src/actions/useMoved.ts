/** Each request moves a part of the accounts; the next one continues after it. */
import { useState } from "preact/hooks"
import { useAction } from "../data/User.ts"

interface Moved {
  readonly changed: number
  readonly next_after: string | null
}

export const useMoved = () => {
  const act = useAction()
  const [moved, setMoved] = useState(0)
  const send = async (path: string, body: object): Promise<number> => {
    let sum = 0
    let after: string | null = null
    do {
      const part = (await act(path, { ...body, after })) as Moved
      after = part.next_after
      sum += part.changed
      setMoved(sum)
    } while (after !== null)
    return sum
  }
  return { moved, send }
}
