/** The sealed audit log in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { makeGrowingTree } from "@data-import/domain/merkle/MerkleTree"
import { Database, rowsOf } from "../connection/Database.ts"
import { digest, hashesIn } from "../tables/Hashes.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { entryHash } from "./EntryHash.ts"

type Sql = Database["Service"]["sql"]
type Port = SealedAuditLog["Service"]

const Text = Schema.NullOr(Schema.String)
const Bytes = Schema.Uint8Array

const headRows = rowsOf(Schema.Struct({ size: Schema.BigInt, frontier: Bytes }))
const sealedRows = rowsOf(Schema.Struct({ position: Schema.BigInt, leaf: Bytes }))

/**
 * Has to run in a transaction. The lock of the head lets one process seal at a time. It is taken
 * before the statement that seals, which thus sees what the last holder has committed.
 */
const seal = Effect.fnUntraced(function* (sql: Sql, limit: number) {
  const [head] = yield* headRows(sql`
    select size, frontier from audit_head for no key update skip locked`)
  if (head === undefined) return 0
  const leaves = yield* sealedRows(sql`
    select place as position, hash as leaf from seal_audit_log(${head.size}, ${limit})
    order by place`)
  if (leaves.length === 0) return 0
  const tree = makeGrowingTree(digest, {
    size: Number(head.size),
    frontier: hashesIn(head.frontier)
  })
  for (const { leaf } of leaves) tree.append(leaf)
  yield* sql`
    update audit_head set size = ${BigInt(tree.size())}, root = ${Buffer.from(tree.root())},
      frontier = ${Buffer.concat(tree.frontier())}`
  return leaves.length
})

const treeHeadRows = rowsOf(Schema.Struct({ size: Schema.BigInt, root: Schema.String }))

const leafRows = rowsOf(Schema.Struct({ position: Schema.BigInt, hash: Schema.String }))

const leaves = (sql: Sql, { after, limit }: Parameters<Port["leaves"]>[0]) =>
  leafRows(sql`
    select position, encode(leaf, 'hex') as hash from audit_log
    where position > ${after} order by position, id limit ${limit}`)

const entryRows = rowsOf(
  Schema.Struct({
    position: Schema.BigInt,
    hash: Schema.String,
    id: Schema.String,
    at: Schema.String,
    organisation: Schema.String,
    api_key: Schema.String,
    request_id: Schema.String,
    action: Schema.String,
    outcome: Schema.String,
    import_supplier: Text,
    external_account_number: Text,
    salt: Schema.NullOr(Bytes)
  })
)

const entries = (sql: Sql, selection: Statement.Fragment) =>
  Effect.map(
    entryRows(sql`
      select position, encode(leaf, 'hex') as hash, id::text, extract(epoch from at)::text as at,
        organisation, api_key, request_id, action, outcome, import_supplier,
        external_account_number, salt
      from audit_log where ${selection}`),
    (found) =>
      found.map((entry) => ({
        position: entry.position,
        hash: entry.hash,
        id: BigInt(entry.id),
        organisation: entry.organisation,
        import_supplier: entry.import_supplier,
        external_account_number: entry.external_account_number,
        present: entryHash(entry)
      }))
  )

export const layer: Layer.Layer<SealedAuditLog, never, Database> = Layer.effect(
  SealedAuditLog,
  Effect.map(Database, ({ run, sql }) =>
    SealedAuditLog.of({
      seal: (limit) => run(sql.withTransaction(seal(sql, limit))),
      head: run(
        Effect.map(
          treeHeadRows(sql`select size, encode(root, 'hex') as root from audit_head`),
          ([head]) => head ?? { size: 0n, root: "" }
        )
      ),
      leaves: (page) => run(leaves(sql, page)),
      entries: ({ after, limit }) =>
        run(entries(sql, sql`position > ${after} order by position, audit_log.id limit ${limit}`)),
      entriesOf: (key) =>
        isStorableKey(key)
          ? run(
              entries(
                sql,
                sql`import_supplier = ${key.import_supplier}
                  and external_account_number = ${key.external_account_number}
                  and position is not null
                order by position`
              )
            )
          : Effect.succeed([])
    })
  )
)
