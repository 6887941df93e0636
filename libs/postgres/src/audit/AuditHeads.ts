/**
 * Reads the heads of the audit chains, to be kept outside the database, and checks that the chains
 * still contain the heads that were kept. An entry is compared by its hash alone; `AuditChains`
 * verifies that its chain leads to this hash. The hashes of a chain stay when its number is erased.
 */
import { Effect, Schema } from "effect"
import type { AuditFault, AuditHead } from "@data-import/domain/audit/AuditLog"
import { type Database, rowsOf } from "../connection/Database.ts"

const headRows = rowsOf(
  Schema.Struct({ chain: Schema.BigInt, length: Schema.BigInt, hash: Schema.String })
)

/** The heads of the chains after this one. */
export const headsAfter = (
  { run, sql }: Database["Service"],
  { after, limit }: { readonly after: bigint; readonly limit: number }
) =>
  run(
    headRows(sql`
      select id as chain, length, encode(head, 'hex') as hash from audit_chains
      where id > ${after} order by id limit ${limit}`)
  )

const faultRows = rowsOf(
  Schema.Struct({
    organisation: Schema.String,
    import_supplier: Schema.NullOr(Schema.String),
    external_account_number: Schema.NullOr(Schema.String),
    position: Schema.BigInt,
    id: Schema.NullOr(Schema.BigInt),
    why: Schema.Literals(["missing", "kept_head_differs"])
  })
)

/** The first head that its chain does not have. */
export const missingHead = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  heads: ReadonlyArray<AuditHead>
) {
  const chains = heads.map(({ chain }) => String(chain))
  const lengths = heads.map(({ length }) => String(length))
  const hashes = heads.map(({ hash }) => hash)
  const [fault] = yield* run(
    faultRows(sql`
      select coalesce(head.organisation, 'chain ' || kept.chain) as organisation,
        head.import_supplier, head.external_account_number, kept.length as position, entry.id,
        case when entry.id is null then 'missing' else 'kept_head_differs' end as why
      from unnest(${chains}::bigint[], ${lengths}::bigint[], ${hashes}::text[])
          with ordinality as kept (chain, length, hash, place)
        left join audit_log entry on entry.chain = kept.chain and entry.position = kept.length
        left join audit_chains head on head.id = kept.chain
      where encode(entry.hash, 'hex') is distinct from kept.hash
      order by place limit 1`)
  )
  return (fault ?? null) satisfies AuditFault | null
})
