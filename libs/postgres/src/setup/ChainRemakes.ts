/**
 * Rebuilds the audit chains of earlier releases, so that their numbers can be erased, while
 * requests continue. Each slice is one statement, which records how far it got, so the next
 * migration continues after an interruption. A write to an import of the slice waits for it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How many entries a slice has, unless its first chain alone has more. */
const sliceOfEntries = 1_000

/** Whether there was anything left to do. */
export const remakeSlice = (entries: number = sliceOfEntries) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [slice] = yield* sql<{ remade: boolean }>`
      select remake_audit_chains(${entries}) as remade`
    return slice?.remade === true
  })

/** Several concurrent runs take turns. */
export const remakeAll = Effect.repeat(remakeSlice(), { while: (remade) => remade })
