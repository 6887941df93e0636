/**
 * Lets one tab of a browser work for all: HTTP/1.1 allows six connections to a host, which a stream
 * in each tab would use up.
 */
const name = "data-import board"

/** Opens in this tab once no other tab has it open. Returns what closes it, or stops waiting. */
export const inOneTab = (open: () => () => void): (() => void) => {
  // Browsers have locks on secure origins only.
  if (!("locks" in navigator)) return open()
  const waiting = new AbortController()
  let end = () => waiting.abort()
  const hold = () =>
    new Promise<void>((resolve) => {
      const close = open()
      end = () => {
        close()
        resolve()
      }
    })
  navigator.locks.request(name, { signal: waiting.signal }, hold).catch((error: unknown) => {
    if (!waiting.signal.aborted) throw error
  })
  return () => end()
}

/** What the tabs tell each other. */
export const tabs = new BroadcastChannel(name)
