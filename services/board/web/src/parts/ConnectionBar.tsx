/** Warns when the page may show old data. */
import { useEffect, useState } from "preact/hooks"
import { useConnection } from "../data/Changes.ts"
import { fetched } from "../data/Store.ts"
import { clock, ownZone } from "../text/Times.ts"

const useLastAnswer = (): number => {
  const [last, setLast] = useState(Date.now)
  useEffect(() => {
    const told = (error: Error | null) => {
      if (error === null) setLast(Date.now())
    }
    fetched.add(told)
    return () => {
      fetched.delete(told)
    }
  }, [])
  return last
}

export const ConnectionBar = () => {
  const connection = useConnection()
  const last = useLastAnswer()
  const at = clock(last, ownZone())
  const isQuiet = connection === "live" || connection === "connecting"
  return (
    <div class={`connection ${connection}`} role="status">
      {connection === "lost" && (
        <p>
          <strong>As of {at}, connection lost.</strong> What you see is from then. It is tried again
          by itself every few seconds.
        </p>
      )}
      {connection === "polling" && (
        <p>As of {at}. Changes are not shown at once now, but every 30 seconds.</p>
      )}
      {isQuiet && <p class="hidden">Up to date.</p>}
    </div>
  )
}
