/**
 * The answers that the pages show. An answer is kept while its page is away, so that going back is
 * immediate; it is fetched when a first part of the page shows it, and again when the service says
 * that it has changed.
 * A failed fetch keeps the last answer, with the error beside it.
 */
import { useEffect, useState } from "preact/hooks"
import { answers } from "../routing/Paths.ts"
import { get, Refusal } from "./Http.ts"

interface Entry {
  value: unknown
  receivedAt: number | null
  error: Error | null
  fetching: boolean
  /** Asked for while a fetch was running. */
  again: boolean
  readonly watchers: Set<() => void>
}

/** No answer is fetched more often. */
const pause = 1_500
const kept = 60

const entries = new Map<string, Entry>()

/** Told after each fetch: null after an answer. */
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

/** The session has ended; the page of the session says what to do. */
const isSignedOut = (error: Error | null): boolean =>
  error instanceof Refusal && error.status === 401

/** Fetches an answer, unless it is being fetched: then once more afterwards. */
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

/** Fetches again what is shown, of the paths that meet the condition. */
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
    // What others show already is kept up to date for them.
    if (entry.watchers.size === 0) void refresh(path)
    entry.watchers.add(watcher)
    return () => {
      entry.watchers.delete(watcher)
    }
  }, [path])
  const { error, receivedAt, value } = entryOf(path)
  return { path, value: value as A | undefined, receivedAt, error }
}
