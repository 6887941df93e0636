/**
 * Idempotency keys that are broken on purpose, each by one plausible mistake that makes a retry
 * under a key unsafe.
 */
import { DateTime, Effect, type Option } from "effect"
import type { Keep, Reservation } from "@data-import/domain/requests/IdempotencyKey"
import type { Accounts } from "@data-import/domain/ports/Accounts"
import type { IdempotencyKeys } from "@data-import/domain/ports/IdempotencyKeys"
import { finish } from "@data-import/domain/support/Steps"
import type { Mutation } from "../InMemory.ts"
import type { Programs } from "../Programs.ts"
import { own } from "../Traffic.ts"

type Store = Parameters<Mutation>[1]
type Change = Accounts["Service"]["change"]
type Reserve = IdempotencyKeys["Service"]["reserve"]
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

const reserving =
  (
    alteration: (store: Store, command: Parameters<Reserve>[0]) => Parameters<Reserve>[0]
  ): Mutation =>
  ({ keys }, store) => ({
    keys: {
      ...keys,
      reserve: (command) => Effect.suspend(() => keys.reserve(alteration(store, command)))
    }
  })

/** Stores the change, and its answer in a separate step. */
const keepingLater: Mutation = ({ accounts }, store, wait) => {
  const change: Change = (command) => {
    const { at, keep } = command
    if (!keep) return accounts.change(command)
    return Effect.tap(
      accounts.change({ ...command, keep: null }),
      Effect.fnUntraced(function* (answer: Option.Option<never>) {
        yield* wait("inside of Accounts.change", [])
        if (answer._tag === "None") return
        const text = finish(keep.textOf(answer.value))
        const expiresAt = DateTime.add(at, { hours: 24 })
        alter(store, keep.reservation, (record) => ({ ...record, answer: text, expiresAt }))
      }) as (answer: Option.Option<unknown>) => Effect.Effect<void>
    )
  }
  return { accounts: { ...accounts, change } }
}

/** Releases the key of another request. */
const regain = (store: Store, keep: Keep<never> | null | undefined): void => {
  if (!keep) return
  const { reservation } = keep
  const { token } = reservation
  alter(store, reservation, (record) => ({ ...record, token, answer: null }))
}

/** By what is wrong. */
export const brokenKeys: Readonly<Record<string, Mutation>> = {
  "an answer is kept in a step of its own": keepingLater,
  "a change does not look at its reservation": ({ accounts }, store) => ({
    accounts: {
      ...accounts,
      change: (command) =>
        Effect.suspend(() => {
          regain(store, command.keep)
          return accounts.change(command)
        })
    }
  }),
  "a staging does not look at its reservation": ({ imports }, store) => ({
    imports: {
      ...imports,
      stage: (command) =>
        Effect.suspend(() => {
          regain(store, command.keep)
          return imports.stage(command)
        })
    }
  }),
  "a completion keeps no answer": ({ imports }) => ({
    imports: { ...imports, complete: (command) => imports.complete({ ...command, keep: null }) }
  }),
  "an answer is kept for an hour": ({ accounts }, store) => ({
    accounts: {
      ...accounts,
      change: (command) =>
        Effect.tap(accounts.change(command), () =>
          Effect.sync(() => {
            const { at, keep } = command
            const expiresAt = DateTime.add(at, { hours: 1 })
            if (!keep) return
            const { reservation } = keep
            alter(store, reservation, (record) =>
              record.answer === null || record.token !== reservation.token
                ? record
                : { ...record, expiresAt }
            )
          })
        )
    }
  }),
  "an answer is kept for ever": ({ keys }, store) => ({
    keys: {
      ...keys,
      reserve: (command) =>
        Effect.suspend(() => {
          const expiresAt = DateTime.add(command.at, { hours: 1 })
          alter(store, command.request, (record) =>
            record.answer === null ? record : { ...record, expiresAt }
          )
          return keys.reserve(command)
        })
    }
  }),
  "a key is given to many at once": reserving((store, command) => {
    alter(store, command.request, (record) => (record.answer === null ? undefined : record))
    return command
  }),
  "a key that a dead request holds is never free": reserving((store, command) => {
    const expiresAt = DateTime.add(command.at, { hours: 1 })
    alter(store, command.request, (record) =>
      record.answer === null ? { ...record, expiresAt } : record
    )
    return command
  }),
  "a key does not distinguish requests": reserving((store, command) => {
    alter(store, command.request, (record) => ({
      ...record,
      fingerprint: command.request.fingerprint
    }))
    return command
  }),
  "organisations share their keys": reserving((_store, command) => ({
    ...command,
    request: { ...command.request, organisation: own }
  })),
  "a release takes a kept answer along": ({ keys }, store) => ({
    keys: {
      ...keys,
      release: (reservation) => Effect.sync(() => alter(store, reservation, () => undefined))
    }
  }),
  "a release does nothing": ({ keys }) => ({ keys: { ...keys, release: () => Effect.void } })
}

/** By what is wrong. */
export const brokenKeyPrograms: Readonly<Record<string, (programs: Programs) => Programs>> = {
  "transactions do not pass their key on": (programs) => ({
    ...programs,
    postImport: {
      ...programs.postImport,
      createTransactions: (caller, body, parameters) =>
        programs.postImport.createTransactions(caller, body, parameters)
    }
  }),
  "a replay says something else": (programs) => ({
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
