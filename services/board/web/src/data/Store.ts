/**
 * The answers that the pages show. An answer is kept after its page is left, so that going back is
 * immediate. It is fetched when the first part of a page shows it, and again when the service says
 * that it has changed. A failed fetch keeps the last answer, with the error beside it.
 */
import { useEffect, useState } from "preact/hooks"
import { answers } from "../routing/Paths.ts"
import { get, isSignedOut } from "./Http.ts"

interface Entry {
  value: unknown
  receivedAt: number | null
  error: Error | null
  fetching: boolean
  /** Whether another fetch was asked for while one was running. */
  again: boolean
  readonly watchers: Set<() => void>
}

/** The least time between two fetches of an answer, in milliseconds. */
const pause = 1_500
const kept = 60

const entries = new Map<string, Entry>()

/** Called after each fetch: with the error, or null after an answer. */
export const fetched = new Set<(error: Error | null) => void>()

const forgetOldest = () => {
  for (const [path, { watchers }] of entries) {
    if (entries.size <= kept) return
    if (watchers.size === 0) entries.delete(path)
  }
}

const entryOf = (path: string): Entry => {
  const present = entries.get(path)
  if (present !== undefined) return present
  const made: Entry = {
    value: undefined,
    receivedAt: null,
    error: null,
    fetching: false,
    again: false,
    watchers: new Set()
  }
  entries.set(path, made)
  forgetOldest()
  return made
}

/** Fetches an answer. If a fetch is running, fetches once more after it. */
export const refresh = async (path: string, isBackground = false): Promise<void> => {
  const entry = entryOf(path)
  if (entry.fetching) {
    entry.again = true
    return
  }
  entry.fetching = true
  try {
    entry.value = await get(path, isBackground)
    entry.error = null
    entry.receivedAt = Date.now()
  } catch (error) {
    entry.error = error instanceof Error ? error : new Error(String(error))
  }
  for (const told of fetched) told(entry.error)
  if (isSignedOut(entry.error) && path !== answers.session) void refresh(answers.session, true)
  for (const watcher of entry.watchers) watcher()
  setTimeout(() => {
    entry.fetching = false
    if (!entry.again) return
    entry.again = false
    if (entry.watchers.size > 0) void refresh(path, true)
  }, pause)
}

/** Fetches shown answers again: those whose path meets the condition. */
export const refreshShown = (isMeant: (path: string) => boolean = () => true): void => {
  for (const [path, { watchers }] of entries)
    if (watchers.size > 0 && isMeant(path)) void refresh(path, true)
}

export interface Answer<A> {
  readonly path: string
  readonly value: A | undefined
  /** When it was received; null before the first answer. */
  readonly receivedAt: number | null
  readonly error: Error | null
}

/** The answer of a path of the API, up to date for as long as it is shown. */
export const useAnswer = <A>(path: string): Answer<A> => {
  const [, repaint] = useState(0)
  useEffect(() => {
    const entry = entryOf(path)
    const watcher = () => repaint((times) => times + 1)
    // An answer that another component shows is fetched already.
    if (entry.watchers.size === 0) void refresh(path)
    entry.watchers.add(watcher)
    return () => {
      entry.watchers.delete(watcher)
    }
  }, [path])
  const { error, receivedAt, value } = entryOf(path)
  return { path, value: value as A | undefined, receivedAt, error }
}
