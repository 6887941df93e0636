/** Idempotency keys with one mistake each, which makes a retry under a key unsafe. */
import { DateTime, Effect, Option } from "effect"
import type { ResponseRecorder, Reservation } from "@data-import/domain/idempotency/IdempotencyKey"
import { finish } from "@data-import/domain/support/Steps"
import { own } from "../Traffic.ts"
import { after, before, type Defects, on, type Store } from "./Planted.ts"

type KeyRecord = Store["idempotencyKeys"] extends Map<string, infer A> ? A : never

/** Alters what is stored under the key; undefined deletes it. */
const alter = (
  store: Store,
  { key, organisation }: Pick<Reservation, "key" | "organisation">,
  how: (record: KeyRecord) => KeyRecord | undefined
): void => {
  const place = JSON.stringify([organisation, key])
  const record = store.idempotencyKeys.get(place)
  const altered = record && how(record)
  if (altered === undefined) store.idempotencyKeys.delete(place)
  else store.idempotencyKeys.set(place, altered)
}

/** Releases the key of another request. */
const regain = (store: Store, recorder: ResponseRecorder<never> | null | undefined): void => {
  if (!recorder) return
  const { token } = recorder.reservation
  alter(store, recorder.reservation, (record) => ({ ...record, token, answer: null }))
}

/** Alters what is under the key before a request reserves it. */
const reserving = (
  how: (record: KeyRecord, fingerprint: KeyRecord["fingerprint"]) => KeyRecord | undefined
) =>
  before("keys", "reserve", (store, { request }) =>
    alter(store, request, (record) => how(record, request.fingerprint))
  )

const far = DateTime.makeUnsafe("2999-01-01T00:00:00Z")

export const brokenKeys: Defects = {
  "an answer is kept in a step of its own": {
    seed: 134,
    seen: 66,
    storage: on("accounts", "change", (change, command, store, wait) => {
      const { at, recorder } = command
      if (!recorder) return change(command)
      return Effect.tap(
        change({ ...command, recorder: null }),
        Effect.fnUntraced(function* (answer) {
          yield* wait("inside of Accounts.change", [])
          if (Option.isNone(answer)) return
          const text = finish(recorder.textOf(answer.value))
          const expiresAt = DateTime.add(at, { hours: 24 })
          alter(store, recorder.reservation, (record) => ({ ...record, answer: text, expiresAt }))
        })
      )
    })
  },
  "a change does not look at its reservation": {
    seed: 11,
    seen: 22,
    storage: before("accounts", "change", (store, { recorder }) => regain(store, recorder))
  },
  "a staging does not look at its reservation": {
    seed: 20,
    seen: 20,
    storage: before("imports", "stage", (store, { recorder }) => regain(store, recorder))
  },
  "a completion keeps no answer": {
    seed: 10,
    storage: on("imports", "complete", (complete, command) =>
      complete({ ...command, recorder: null })
    )
  },
  "an answer is kept for an hour": {
    seed: 2324,
    storage: after("accounts", "change", (store, { at, recorder }) => {
      if (!recorder) return
      const { reservation } = recorder
      const expiresAt = DateTime.add(at, { hours: 1 })
      alter(store, reservation, (record) =>
        record.answer === null || record.token !== reservation.token
          ? record
          : { ...record, expiresAt }
      )
    })
  },
  "an answer is kept for ever": {
    seed: 1,
    storage: reserving((record) =>
      record.answer === null ? record : { ...record, expiresAt: far }
    )
  },
  "a key is given to many at once": {
    seed: 1,
    storage: reserving((record) => (record.answer === null ? undefined : record))
  },
  "a key that a dead request holds is never free": {
    seed: 134,
    seen: 134,
    storage: reserving((record) =>
      record.answer === null ? { ...record, expiresAt: far } : record
    )
  },
  "a key does not distinguish requests": {
    seed: 134,
    seen: 67,
    storage: reserving((record, fingerprint) => ({ ...record, fingerprint }))
  },
  "organisations share their keys": {
    seed: 1,
    seen: 1,
    storage: on("keys", "reserve", (reserve, command) =>
      reserve({ ...command, request: { ...command.request, organisation: own } })
    )
  },
  "a release takes a kept answer along": {
    seed: 2,
    seen: 62,
    storage: on("keys", "release", (_, reservation, store) =>
      Effect.sync(() => alter(store, reservation, () => undefined))
    )
  },
  "a release does nothing": { seed: 58, storage: on("keys", "release", () => Effect.void) },
  "transactions do not pass their key on": {
    seed: 10,
    seen: 22,
    programs: (programs) => ({
      ...programs,
      postImport: {
        ...programs.postImport,
        createTransactions: (caller, body, parameters) =>
          programs.postImport.createTransactions(caller, body, parameters)
      }
    })
  },
  "a replay says something else": {
    seed: 1,
    seen: 58,
    programs: (programs) => ({
      ...programs,
      writes: {
        run: (request, textOf, write) =>
          programs.writes.run(
            request,
            function* (answer) {
              return `${yield* textOf(answer)}!`
            },
            write
          )
      }
    })
  }
}
