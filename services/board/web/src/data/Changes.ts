/**
 * Keeps what is shown up to date. The service reports over Server-Sent Events which migrations have
 * changed, on one stream for all tabs. Without it, everything shown is fetched every 30 seconds.
 */
import { useEffect, useState } from "preact/hooks"
import { answers, api } from "../routing/Paths.ts"
import { Unreachable } from "./Http.ts"
import { inOneTab, tabs } from "./InOneTab.ts"
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

/** What the tab with the stream tells the others, which ask whether there is one. */
type Told =
  | { readonly isLive: boolean; readonly to: "all" | "asking" }
  | { readonly suppliers: ReadonlyArray<string> }
  | { readonly isAsking: true }

let isLive = false
let holdsStream = false
/** Whether the tab with the stream has answered since it was asked: a browser may suspend it. */
let isAnswered = true

const afterFetch = (error: Error | null) => {
  if (error instanceof Unreachable) become("lost")
  else if (state !== "live") become(isLive ? "live" : "polling")
}

const setLive = (live: boolean) => {
  if (live || state !== "polling") refreshShown()
  if (live) become("live")
  else if (state === "live") become("polling")
  isLive = live
}

const tell = (told: Told) => tabs.postMessage(told)

/** Holds the stream for all tabs; returns the function that closes it. */
const openStream = (): (() => void) => {
  holdsStream = true
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  const tellAll = (live: boolean) => {
    setLive(live)
    tell({ isLive: live, to: "all" })
  }
  const connect = () => {
    clearTimeout(retry)
    source?.close()
    source = new EventSource(`${api}changes/`)
    source.addEventListener("open", () => tellAll(true))
    source.addEventListener("changed", ({ data }: MessageEvent<string>) => {
      const suppliers = changedSuppliers(data)
      refreshChanged(suppliers)
      tell({ suppliers })
    })
    source.addEventListener("error", reconnect)
  }
  const reconnect = () => {
    clearTimeout(retry)
    source?.close()
    tellAll(false)
    retry = setTimeout(connect, reconnectAfter)
  }
  const answer = ({ data }: MessageEvent<Told>) => {
    if ("isAsking" in data) tell({ isLive, to: "asking" })
  }
  addEventListener("online", connect)
  // A browser may keep a stream open on which nothing comes any more.
  addEventListener("offline", reconnect)
  tabs.addEventListener("message", answer)
  connect()
  return () => {
    holdsStream = false
    clearTimeout(retry)
    removeEventListener("online", connect)
    removeEventListener("offline", reconnect)
    tabs.removeEventListener("message", answer)
    source?.close()
  }
}

/** Begins to listen; returns the function that stops it. */
export const listen = (): (() => void) => {
  const hear = ({ data }: MessageEvent<Told>) => {
    if (!("isAsking" in data)) isAnswered = true
    if ("suppliers" in data) refreshChanged(data.suppliers)
    else if ("isLive" in data && (data.to === "all" || !isLive)) setLive(data.isLive)
  }
  const disconnected = () => become("lost")
  const ask = () => {
    isAnswered = false
    tell({ isAsking: true })
  }
  const poll = setInterval(() => {
    if (isLive && !holdsStream && !isAnswered) setLive(false)
    else if (!isLive) refreshShown()
    ask()
  }, pollEach)
  fetched.add(afterFetch)
  addEventListener("offline", disconnected)
  tabs.addEventListener("message", hear)
  ask()
  const close = inOneTab(openStream)
  return () => {
    clearInterval(poll)
    fetched.delete(afterFetch)
    removeEventListener("offline", disconnected)
    tabs.removeEventListener("message", hear)
    close()
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
