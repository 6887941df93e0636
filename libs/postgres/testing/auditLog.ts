/** The audit log as tests need it: sealed and verified, and with an erased number. */
import { Effect } from "effect"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { verifyAudit } from "@data-import/domain/audit/AuditVerification"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { Database } from "../src/connection/Database.ts"

/** Seals all entries, and returns how many. */
export const sealAll = Effect.gen(function* () {
  const { seal } = yield* SealedAuditLog
  let sealed = 0
  for (let some = -1; some !== 0; sealed += some) some = yield* seal(10_000)
  return sealed
})

/** What the verification of all sealed entries finds. */
export const verified = Effect.gen(function* () {
  return yield* verifyAudit(yield* SealedAuditLog, yield* Hashing)
}).pipe(Effect.provide(hashing))

/** The fault of the log after all of it was sealed. */
export const auditFault = Effect.map(Effect.andThen(sealAll, verified), ({ fault }) => fault)

/** Erases the number with the operator's rights, and returns how many entries had it. */
export const eraseNumber = Effect.fnUntraced(function* (key: ImportKey) {
  const { run, sql } = yield* Database
  const erased = Effect.gen(function* () {
    yield* sql`set local role data_import_operator`
    const rows = yield* sql<{ entries: bigint }>`
      select erase_audited_number(${key.import_supplier}, ${key.external_account_number})
        as entries`
    return Number(rows[0]?.entries)
  })
  return yield* run(sql.withTransaction(erased))
})
