/**
 * Keeps what is shown up to date. The service reports over Server-Sent Events which migrations have
 * changed. Without that stream, everything shown is fetched every 30 seconds.
 */
import { useEffect, useState } from "preact/hooks"
import { answers, api } from "../routing/Paths.ts"
import { Unreachable } from "./Http.ts"
import { fetched, refreshShown } from "./Store.ts"

/** `live` with the stream, `polling` without it, `lost` if nothing answers. */
export type Connection = "connecting" | "live" | "polling" | "lost"

const pollEach = 30_000
const reconnectAfter = 5_000

let state: Connection = "connecting"
const watchers = new Set<(connection: Connection) => void>()

const become = (next: Connection) => {
  if (next === state) return
  state = next
  for (const watcher of watchers) watcher(next)
}

const changedSuppliers = (data: string): ReadonlyArray<string> => {
  const { import_suppliers } = JSON.parse(data) as { readonly import_suppliers: Array<string> }
  return import_suppliers
}

const refreshChanged = (suppliers: ReadonlyArray<string>) => {
  const roots = suppliers.map((supplier) => answers.migration(supplier))
  refreshShown(
    (path) =>
      path === answers.migrations ||
      path.startsWith(answers.programme()) ||
      roots.some((root) => path.startsWith(root))
  )
}

const afterFetch = (error: Error | null, isStreaming: boolean) => {
  if (error instanceof Unreachable) become("lost")
  else if (state !== "live") become(isStreaming ? "live" : "polling")
}

/** Begins to listen; returns the function that stops it. */
export const listen = (): (() => void) => {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  const isOpen = () => source?.readyState === EventSource.OPEN
  const told = (error: Error | null) => afterFetch(error, isOpen())

  const connect = () => {
    clearTimeout(retry)
    source?.close()
    source = new EventSource(`${api}changes/`)
    source.addEventListener("open", () => {
      become("live")
      refreshShown()
    })
    source.addEventListener("changed", ({ data }: MessageEvent<string>) =>
      refreshChanged(changedSuppliers(data))
    )
    source.addEventListener("error", () => {
      source?.close()
      if (state !== "polling") refreshShown()
      if (state === "live") become("polling")
      retry = setTimeout(connect, reconnectAfter)
    })
  }
  const disconnected = () => become("lost")

  const poll = setInterval(() => {
    if (!isOpen()) refreshShown()
  }, pollEach)
  fetched.add(told)
  addEventListener("online", connect)
  addEventListener("offline", disconnected)
  connect()
  return () => {
    clearInterval(poll)
    clearTimeout(retry)
    fetched.delete(told)
    removeEventListener("online", connect)
    removeEventListener("offline", disconnected)
    source?.close()
  }
}

export const useConnection = (): Connection => {
  const [connection, setConnection] = useState(state)
  useEffect(() => {
    watchers.add(setConnection)
    setConnection(state)
    return () => {
      watchers.delete(setConnection)
    }
  }, [])
  return connection
}
