/**
 * Verifies the audit log. A trigger chains its entries by hashes as they are written (see the
 * migrations). The chains are recomputed here, page by page, without functions of the database. If
 * an owner of the database recomputes a whole chain and its head, only a comparison with a head
 * that was kept elsewhere detects it.
 */
import { hash } from "node:crypto"
import { Effect, Schema } from "effect"
import type { AuditFault, AuditVerification } from "@data-import/domain/audit/AuditLog"
import { type Database, rowsOf } from "../connection/Database.ts"
import { erasedNumber, hmacOf, isErasedNumber } from "./ErasedNumbers.ts"

const Text = Schema.NullOr(Schema.String)

/** An entry with the head of its chain, or a head without entries. */
const Link = Schema.Struct({
  chain: Schema.BigInt,
  entry: Schema.NullOr(
    Schema.Struct({
      position: Schema.String,
      id: Schema.String,
      at: Schema.String,
      organisation: Schema.String,
      api_key: Schema.String,
      request_id: Schema.String,
      action: Schema.String,
      outcome: Schema.String,
      import_supplier: Text,
      external_account_number: Text,
      hash: Schema.String
    })
  ),
  head: Schema.NullOr(
    Schema.Struct({
      organisation: Schema.String,
      import_supplier: Text,
      external_account_number: Text,
      length: Schema.String,
      hash: Schema.String,
      salt: Text,
      hmac: Text
    })
  )
})
type Link = typeof Link.Type
type Entry = NonNullable<Link["entry"]>
type Head = NonNullable<Link["head"]>

const linkRows = rowsOf(Link)

/** Before every chain, even one whose number was altered. */
const start = { chain: -(2n ** 63n), position: -(2n ** 63n) }

/**
 * The entries after a position, in the order of their chains, and all heads up to the last of them.
 * One statement reads both from one snapshot. It reads one row more than a page, for the head of
 * the chain that the previous page ended with.
 */
const page = ({ run, sql }: Database["Service"], size: number, after: typeof start) =>
  run(
    linkRows(sql`
      with page as materialized (
        select * from audit_log where (chain, position) > (${after.chain}, ${after.position})
        order by chain, position limit ${size}
      ),
      range as (
        select case when count(*) < ${size} then 9223372036854775807 else max(chain) end as last
        from page
      )
      select coalesce(page.chain, head.id) as chain,
        case when page.chain is not null then json_build_object('position', position::text,
          'id', page.id::text, 'at', extract(epoch from at)::text,
          'organisation', page.organisation, 'api_key', api_key, 'request_id', request_id,
          'action', action, 'outcome', outcome, 'import_supplier', page.import_supplier,
          'external_account_number', page.external_account_number,
          'hash', encode(hash, 'hex')) end as entry,
        case when head.id is not null then json_build_object('organisation', head.organisation,
          'import_supplier', head.import_supplier,
          'external_account_number', head.external_account_number,
          'length', head.length::text, 'hash', encode(head.head, 'hex'),
          'salt', encode(salt, 'hex'), 'hmac', encode(hmac, 'hex')) end as head
      from page full join (
        select * from audit_chains
        where id between ${after.chain} and (select last from range)
      ) as head on head.id = page.chain
      order by 1, position limit ${size + 1}`)
  )

/** A netstring, or `-` for null, so that no two entries have the same text. */
const netstring = (text: string | null): string =>
  text === null ? "-" : `${Buffer.byteLength(text)}:${text},`

/** The hash of an entry, with this number, after an entry of the hash `previous`. */
const hashOf = (entry: Entry, number: string | null, previous: string | null): string =>
  hash(
    "sha256",
    [
      previous,
      entry.position,
      entry.id,
      entry.at,
      entry.organisation,
      entry.api_key,
      entry.request_id,
      entry.action,
      entry.outcome,
      entry.import_supplier,
      number
    ]
      .map(netstring)
      .join("")
  )

const isOf = (entry: Entry, head: Head): boolean =>
  entry.organisation === head.organisation &&
  entry.import_supplier === head.import_supplier &&
  entry.external_account_number === head.external_account_number

const isKeyedAlike = (one: Head, other: Head): boolean =>
  one.external_account_number === other.external_account_number &&
  one.salt === other.salt &&
  one.hmac === other.hmac

/**
 * What the hashes contain in place of the number; undefined if salt, HMAC and number do not agree.
 */
const hashedNumber = ({ external_account_number: number, hmac, salt }: Head) => {
  if (number === null || isErasedNumber(number)) {
    return salt === null && hmac === null ? number : undefined
  }
  if (salt === null || hmac === null) return undefined
  return hmac === hmacOf(salt, number) ? erasedNumber(hmac) : undefined
}

/** How far a chain was verified. The head is of the same snapshot as the entry. */
interface Followed {
  readonly chain: bigint
  readonly position: bigint
  readonly hash: string | null
  /** What the hashes contain in place of the number: see `hashedNumber`. */
  readonly number: string | null | undefined
  readonly entry: Entry | null
  readonly head: Head | null
}

/** Before the first entry of a chain. */
const beginningOf = (chain: bigint, head: Head | null): Followed => ({
  chain,
  position: 0n,
  hash: null,
  number: head === null ? undefined : hashedNumber(head),
  entry: null,
  head
})

/** The entry as the last one that was followed, not yet verified. */
const followedTo = (entry: Entry, head: Head | null, last: Followed): Followed => ({
  chain: last.chain,
  position: BigInt(entry.position),
  hash: entry.hash,
  number:
    head === null || (last.head !== null && isKeyedAlike(head, last.head))
      ? last.number
      : beginningOf(last.chain, head).number,
  entry,
  head
})

const fault = (
  { external_account_number, import_supplier, organisation }: Entry | Head,
  position: bigint,
  id: string | null,
  why: AuditFault["why"]
): AuditFault => ({
  organisation,
  import_supplier,
  external_account_number,
  position,
  id: id === null ? null : BigInt(id),
  why
})

/** The fault of an entry as the next one of its chain. */
const faultAt = (
  entry: Entry,
  head: Head | null,
  last: Followed,
  next: Followed
): AuditFault | null => {
  const { position } = next
  const expected = last.position + 1n
  if (head === null) return fault(entry, position, entry.id, "head_missing")
  const length = BigInt(head.length)
  if (position > expected && expected <= length) return fault(head, expected, null, "missing")
  if (position > length) return fault(head, position, entry.id, "beyond_head")
  const follows =
    position === expected &&
    next.number !== undefined &&
    entry.hash === hashOf(entry, next.number, last.hash)
  return follows && isOf(entry, head) ? null : fault(head, position, entry.id, "altered")
}

/** The fault of a chain after its last entry. */
const faultAfter = ({ entry, hash, head, position }: Followed): AuditFault | null => {
  if (head === null) return null
  if (position < BigInt(head.length)) return fault(head, position + 1n, null, "missing")
  return hash === head.hash ? null : fault(head, position, entry?.id ?? null, "head_differs")
}

/** How far a verification got: the last chain that it followed; null if there are no more. */
export interface FollowedChains extends AuditVerification {
  readonly through: bigint | null
}

interface Verifying {
  /** Only chains after this one; by default all. */
  readonly after?: bigint
  /** Stops after the chain in which this many entries have been read. */
  readonly entries?: number
  /** How many entries one statement reads. */
  readonly pageSize?: number
}

const defaultPage = 5_000

/** Verifies whole chains, up to the first fault. */
export const verifyChains = Effect.fnUntraced(function* (
  database: Database["Service"],
  { after, entries: limit = Infinity, pageSize = defaultPage }: Verifying
) {
  let from: typeof start = after === undefined ? start : { ...start, chain: after + 1n }
  let last: Followed = beginningOf(from.chain - 1n, null)
  let chains = 0
  let entries = 0
  const answer = (fault: AuditFault | null, through: bigint | null): FollowedChains => ({
    chains,
    entries,
    fault,
    through
  })
  for (;;) {
    const links = yield* page(database, pageSize, from)
    let read = 0
    for (const { chain, entry, head } of links) {
      if (chain !== last.chain) {
        const found = faultAfter(last)
        if (found !== null || entries >= limit) return answer(found, last.chain)
        chains += 1
        last = beginningOf(chain, head)
      }
      if (entry === null) continue
      const next = followedTo(entry, head, last)
      const found = faultAt(entry, head, last, next)
      if (found !== null) return answer(found, chain)
      entries += 1
      read += 1
      last = next
    }
    if (read < pageSize) {
      const found = faultAfter(last)
      return answer(found, found === null ? null : last.chain)
    }
    from = last
  }
})

/** Verifies every chain up to the first fault. */
export const verifyAudit = (database: Database["Service"], pageSize: number = defaultPage) =>
  Effect.map(
    verifyChains(database, { pageSize }),
    ({ chains, entries, fault }): AuditVerification => ({ chains, entries, fault })
  )
