/** The context in which a request is answered. */
import type pg from "pg"
import type { Caller } from "./Auth.ts"
import type { Documents } from "./Documents.ts"
import type { Key } from "./Requests.ts"
import type { Setup } from "./Setup.ts"

/** The caller, the time and the dependencies of a request. */
export interface Context {
  readonly pool: pg.Pool
  readonly setup: Setup
  readonly documents: Documents
  readonly at: Date
  readonly caller: Caller
  readonly requestId: string
}

/** The first parameters of every statement that changes something. */
export const trailOf = (
  { at, caller, requestId }: Context,
  { external_account_number, import_supplier }: Key
) => [import_supplier, external_account_number, at, caller.organisation, caller.apiKey, requestId]
