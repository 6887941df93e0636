/**
 * How defects are planted: one operation of a port is altered, or the memory adapters' store is.
 * Each defect is one plausible mistake.
 */
import { Effect } from "effect"
import { type ImportKey, PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { importOf, type StoredImport } from "@data-import/domain/testing/memory/Store"
import type { Mutation } from "../InMemory.ts"
import type { Programs } from "../Programs.ts"
import type { Storage } from "../Storage.ts"

export interface Planted {
  /** The seed whose run differs from that of the model. */
  readonly seed: number
  /** The seed with which clients alone notice it, if there is one. */
  readonly seen?: number
  readonly storage?: Mutation
  readonly programs?: (programs: Programs) => Programs
}

/** By what is wrong. */
export type Defects = Readonly<Record<string, Planted>>

export type Store = Parameters<Mutation>[1]
type Wait = Parameters<Mutation>[2]

type Ports = Required<Omit<Storage, "afterSession" | "countDeath" | "payload">>
type Method = (command: never) => Effect.Effect<unknown, unknown, unknown>
type Methods<P extends keyof Ports> = {
  [O in keyof Ports[P]]: Ports[P][O] extends Method ? O : never
}[keyof Ports[P]]
type Call<P extends keyof Ports, O extends Methods<P>> = Extract<Ports[P][O], Method>

/** Replaces an operation; `call` is what it was before. */
export const on =
  <P extends keyof Ports, O extends Methods<P>>(
    port: P,
    operation: O,
    how: (
      call: Call<P, O>,
      command: Parameters<Call<P, O>>[0],
      store: Store,
      wait: Wait
    ) => Effect.Effect<unknown, unknown, unknown>
  ): Mutation =>
  (storage, store, wait) => {
    const service = storage[port]
    const altered = (command: Parameters<Call<P, O>>[0]) =>
      Effect.suspend(() => how(service[operation] as Call<P, O>, command, store, wait))
    return { [port]: { ...service, [operation]: altered } }
  }

/** Alters the store before an operation. */
export const before = <P extends keyof Ports, O extends Methods<P>>(
  port: P,
  operation: O,
  change: (store: Store, command: Parameters<Call<P, O>>[0]) => void
): Mutation =>
  on(port, operation, (call, command, store) => {
    change(store, command)
    return call(command)
  })

/** Alters the store after an operation that succeeded. */
export const after = <P extends keyof Ports, O extends Methods<P>>(
  port: P,
  operation: O,
  change: (store: Store, command: Parameters<Call<P, O>>[0]) => void
): Mutation =>
  on(port, operation, (call, command, store) =>
    Effect.tap(call(command), () => Effect.sync(() => change(store, command)))
  )

/** Alters a stored import, if there is one. */
export const alterImport = (
  store: Store,
  key: ImportKey,
  how: (stored: StoredImport) => StoredImport
): void => {
  const present = importOf(store, key)
  if (present === undefined) return
  store.imports.get(key.import_supplier)?.set(key.external_account_number, how(present))
}

/** What a staging answers that has stored nothing. */
export const claimedStaging = (body: unknown) => ({
  first: false,
  isSame: false,
  key: (body as { readonly payload: ImportKey }).payload,
  hash: PayloadHash.make("0".repeat(64))
})
