/** What a certificate covers, read in a transaction that sees one snapshot. */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { AccountSums } from "@data-import/domain/certificates/Certificate"
import type { CertificateRecord, Snapshot } from "@data-import/domain/certificates/Certificates"
import { DetailedState } from "@data-import/domain/imports/ImportDetails"
import { PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { treeHash } from "@data-import/domain/merkle/InclusionProof"
import type { DateTime } from "effect"
import { describeStored } from "../accounts/StoredAccounts.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { classifyFailures } from "../connection/SqlFailure.ts"
import { stateOf } from "../imports/ImportSource.ts"
import { enteredTotals } from "../migrations/ControlTotals.ts"
import { digest } from "../tables/Hashes.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { certificateColumns, certificatesIn } from "./CertificateRow.ts"

type Sql = Database["Service"]["sql"]

/** The imports that the certificate covers, called `present`. */
const covered = (sql: Sql, { cohort, supplier }: CertificateRecord): Statement.Fragment => sql`
  from import_processes as present
  where supplier = ${supplier} ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}`

const stateRows = rowsOf(Schema.Struct({ state: DetailedState, imports: Schema.Int }))

const states = (sql: Sql, record: CertificateRecord, at: DateTime.Utc) =>
  stateRows(sql`
    select ${stateOf(sql, at)} as state, count(*)::integer as imports
    ${covered(sql, record)} group by 1`).pipe(
    Effect.map((rows) => {
      const counts = new Map(rows.map(({ imports, state }) => [state, imports]))
      return Object.fromEntries(
        DetailedState.literals.map((state) => [state, counts.get(state) ?? 0])
      ) as Snapshot["states"]
    })
  )

const revertedRows = rowsOf(Schema.Struct({ accounts: Schema.Int }))

const reverted = (sql: Sql, record: CertificateRecord) =>
  revertedRows(sql`
    select count(*)::integer as accounts from accounts
    where reverted_at is not null and import_id in (select id ${covered(sql, record)})`).pipe(
    Effect.map(([row]) => row?.accounts ?? 0)
  )

const previous = (sql: Sql, { cohort, supplier }: CertificateRecord) =>
  certificatesIn(sql`
    select ${sql.literal(certificateColumns)} from certificates
    where supplier = ${supplier} and cohort is not distinct from ${cohort} and status = 'ISSUED'
    order by number desc limit 1`).pipe(
    Effect.map(([found]): Snapshot["previous"] =>
      found === undefined || found.issued === null ? null : { id: found.id, jws: found.issued.jws }
    )
  )

const accountRows = rowsOf(
  Schema.Struct({
    number: ExternalAccountNumber,
    account: AccountNumber,
    payloadHash: PayloadHash,
    members: Schema.NullOr(Schema.String),
    sums: Schema.NullOr(Schema.String)
  })
)

const accounts = (
  sql: Sql,
  record: CertificateRecord,
  { after, limit }: Parameters<Snapshot["accounts"]>[0]
) =>
  accountRows(sql`
    select external_account_number as number, number as account,
      encode(coalesce(entry_hash, imported.payload_hash), 'hex') as "payloadHash",
      entry as members, entry_sums as sums
    from (
      select account_id as id, external_account_number, payload_hash ${covered(sql, record)}
        and account_number is not null
        ${after === null ? sql`` : sql`and external_account_number > ${after}`}
      order by external_account_number limit ${limit}
    ) as imported join accounts using (id)
    order by external_account_number`).pipe(
    Effect.map((rows) =>
      rows.map(({ members, sums, ...account }) => ({
        ...account,
        entry:
          members === null || sums === null
            ? null
            : { members, sums: JSON.parse(sums) as AccountSums }
      }))
    )
  )

const documentRows = rowsOf(
  Schema.Struct({
    document_path: Schema.String,
    size: Schema.NullOr(Schema.Int),
    sha256: Schema.NullOr(Schema.String)
  })
)

/** A document that several accounts name has one content; the store's latest finding counts. */
const openDocuments = (sql: Sql, record: CertificateRecord) => sql`
  declare certified_documents no scroll cursor for
  with imported as (select account_id as id ${covered(sql, record)} and account_number is not null),
  named as (
    select document_path as path, document_size as size, document_checksum as checksum
    from note_documents where account_id in (select id from imported)
    union all
    select statement_path, document_size, document_checksum
    from statements where account_id in (select id from imported) and statement_path is not null
  ), found as (
    select regexp_replace(path, '^/', '') collate "C" as path, size,
      case when checksum like 'SHA256:%'
        then encode(decode(substr(checksum, 8), 'base64'), 'hex') end as sha256
    from named
  )
  select distinct on (path) path as document_path, size::float8 as size, sha256 from found
  order by path, sha256 nulls last, size nulls last`

/** Keeps a block with the entries of its accounts. */
const keep = Effect.fnUntraced(function* (
  sql: Sql,
  { id, supplier }: CertificateRecord,
  { index, leaves }: Parameters<Snapshot["keep"]>[0]
) {
  const hashes = leaves.map((leaf) => leaf.hash)
  const root = treeHash(digest, hashes)
  yield* sql`
    insert into certificate_blocks (certificate, block, numbers, leaves, hash)
    values (${id}::uuid, ${index}, ${leaves.map(({ number }) => number)}::text[],
      ${Buffer.concat(hashes)}, ${Buffer.from(root)})`
  const entries = recordSet(sql, "kept", leaves, {
    number: ["text", ({ number }) => number],
    leaf: ["text", (leaf) => Buffer.from(leaf.hash).toString("hex")],
    entry: ["text", ({ entry }) => entry]
  })
  yield* sql`
    insert into certificate_entries (supplier, external_account_number, leaf, entry)
    select ${supplier}, number, decode(leaf, 'hex'), entry from ${entries}
    on conflict on constraint certificate_entries_pkey do nothing`
})

/** Has to run in a transaction whose isolation is `repeatable read`, as does all that it is for. */
export const makeSnapshot = Effect.fnUntraced(function* (
  database: Database["Service"],
  record: CertificateRecord,
  at: DateTime.Utc
) {
  const { sql } = database
  yield* openDocuments(sql, record)
  return {
    states: yield* states(sql, record, at),
    reverted: yield* reverted(sql, record),
    expected: yield* enteredTotals(sql, record.supplier, record.cohort),
    previous: yield* previous(sql, record),
    accounts: (page) => classifyFailures(accounts(sql, record, page)),
    // The connection is that of the transaction, so nothing waits for one of the pool.
    read: (numbers) => describeStored({ ...database, run: classifyFailures }, numbers),
    nextDocuments: (limit) =>
      classifyFailures(
        documentRows(sql`fetch ${sql.literal(String(limit))} from certified_documents`)
      ).pipe(
        Effect.map((rows) =>
          rows.map(({ document_path, sha256, size }) => ({
            document_path,
            content: sha256 === null || size === null ? null : { size, sha256 }
          }))
        )
      ),
    keep: (block) => classifyFailures(keep(sql, record, block))
  } satisfies Snapshot
})
