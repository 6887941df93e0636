/** The present instant, for relative times. */
import { useEffect, useState } from "preact/hooks"

const tick = 15_000

export const useNow = (): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tick)
    return () => clearInterval(timer)
  }, [])
  return now
}
