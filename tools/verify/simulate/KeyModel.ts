/**
 * The reference for idempotency keys: the state of a key, and how reserving, storing and releasing
 * change it. It uses no function of the domain, so that errors of the domain are found.
 * Source: docs/contract/http.md#idempotency-keys.
 */
import type { DateTime } from "effect"
import type { KeyedRequest, Reservation } from "@data-import/domain/requests/IdempotencyKey"
import type { IdempotencyKeys } from "@data-import/domain/ports/IdempotencyKeys"

type Reserve = Parameters<IdempotencyKeys["Service"]["reserve"]>[0]

/** What is stored under a key. `answer` is null while its request runs. */
interface KeyRow {
  readonly fingerprint: string
  readonly token: string
  readonly answer: string | null
  /** The end of the lease, or of the time for which the answer is kept, in milliseconds. */
  readonly until: number
}

/** By organisation and key. */
export type KeyRows = Map<string, KeyRow>

const minute = 60_000

/** How long a request that died holds its key, in milliseconds. */
export const leaseMillis = minute

/** How long an answer is kept, in milliseconds. */
export const keptMillis = 24 * 60 * minute

/** How long a key that has expired is known, in milliseconds. */
export const expiredMillis = 60 * minute

/**
 * A line of a batch takes over its key at once, and its answer is kept for as long as its batch may
 * exist.
 */
const isLine = ({ key }: Pick<KeyedRequest, "key">): boolean => key.startsWith("\u0001batch ")
const leaseOf = (named: Pick<KeyedRequest, "key">) => (isLine(named) ? 0 : leaseMillis)
const keptOf = (named: Pick<KeyedRequest, "key">) =>
  isLine(named) ? 400 * 24 * 60 * minute : keptMillis

const nameOf = ({ key, organisation }: Pick<KeyedRequest, "key" | "organisation">): string =>
  `${organisation} ${key}`

/** Reserves the key if it is free. Returns its state, and the kept answer. */
export const reserve = (
  rows: KeyRows,
  { at, request, token }: Reserve
): { readonly _tag: string; readonly answer?: string } => {
  const now = at.epochMilliseconds
  for (const [name, { until }] of rows) {
    if (until < now - expiredMillis) rows.delete(name)
  }
  const row = rows.get(nameOf(request))
  if (row !== undefined && row.until > now) {
    if (row.fingerprint !== request.fingerprint) return { _tag: "Reused" }
    return row.answer === null ? { _tag: "InUse" } : { _tag: "Kept", answer: row.answer }
  }
  const { fingerprint } = request
  rows.set(nameOf(request), { fingerprint, token, answer: null, until: now + leaseOf(request) })
  return { _tag: "Reserved" }
}

/** Whether the request that has the reservation may still store something. */
export const isHeld = (rows: KeyRows, reservation: Reservation): boolean => {
  const row = rows.get(nameOf(reservation))
  return row?.token === reservation.token && row.answer === null
}

/** Keeps the answer of a write that took effect at the instant. */
export const keep = (
  rows: KeyRows,
  reservation: Reservation,
  answer: string,
  at: DateTime.Utc
): void => {
  const row = rows.get(nameOf(reservation))
  if (row === undefined) return
  rows.set(nameOf(reservation), {
    ...row,
    answer,
    until: at.epochMilliseconds + keptOf(reservation)
  })
}

/** Frees the key, unless it is no longer this reservation's or has its answer. */
export const release = (rows: KeyRows, reservation: Reservation): void => {
  if (isHeld(rows, reservation)) rows.delete(nameOf(reservation))
}

/** The answer that is kept under the key; null if there is none. */
export const answerOf = (
  rows: KeyRows,
  named: Pick<KeyedRequest, "key" | "organisation">
): string | null => rows.get(nameOf(named))?.answer ?? null

/** Deletes the key with its answer. */
export const remove = (rows: KeyRows, named: Pick<KeyedRequest, "key" | "organisation">): void => {
  rows.delete(nameOf(named))
}
