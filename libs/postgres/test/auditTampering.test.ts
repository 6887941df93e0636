/**
 * Every way to tamper with the audit log is found at the right entry, even if the database's own
 * protection is disabled.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type AuditFaultReason, AuditLog } from "@data-import/domain/audit/AuditLog"
import { Database } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(auditLog, TestDatabase.layer)

interface Chain {
  readonly organisation: string
  readonly import_supplier: string | null
  readonly external_account_number: string | null
}

/** In the order in which they are verified. */
const chains = {
  first: { organisation: "o", import_supplier: "S", external_account_number: "Ä-1\u{1F600}" },
  second: { organisation: "o", import_supplier: "S", external_account_number: "2" },
  nameless: { organisation: "o", import_supplier: null, external_account_number: null }
} as const satisfies Record<string, Chain>
type Name = keyof typeof chains

const write = (chain: Chain, requestId: string) =>
  rows(
    (sql) => sql`
    insert into audit_log ${sql.insert({
      ...chain,
      at: new Date("2026-01-01T12:00:00.123Z"),
      api_key: "k",
      request_id: requestId,
      action: "stage",
      outcome: "replaced"
    })}`
  )

const lengths: Readonly<Record<Name, number>> = { first: 4, second: 2, nameless: 3 }

/** Writes three chains in turn; returns their ids. */
const arrange = Effect.gen(function* () {
  for (const round of [1, 2, 3, 4]) {
    for (const [name, chain] of Object.entries(chains)) {
      if (round <= lengths[name as Name]) yield* write(chain, `request-${round}`)
    }
  }
  const ids = yield* rows((sql) => sql<{ id: string }>`select id from audit_chains order by id`)
  return new Map(Object.keys(chains).map((name, index) => [name, String(ids[index]?.id)]))
})

/**
 * What is found after the tampering, and the entry that is now where the fault was found. The
 * tampering and its chains are then rolled back.
 */
const tampered = Effect.fnUntraced(function* (tampering: string) {
  const { sql } = yield* Database
  const log = yield* AuditLog
  const attempt = Effect.gen(function* () {
    const ids = yield* arrange
    yield* sql.unsafe("set local session_replication_role = replica")
    const statements = tampering.replaceAll(
      /\b(first|second|nameless)\b/g,
      (name) => ids.get(name) ?? ""
    )
    for (const statement of statements.split(";")) yield* sql.unsafe(statement)
    const verified = yield* log.verifyAudit
    const [found] = yield* sql<{ id: string }>`
      select audit_log.id from audit_log left join audit_chains on audit_chains.id = chain
      where position = ${verified.fault?.position ?? 0n}
        and coalesce(audit_chains.external_account_number, audit_log.external_account_number)
          is not distinct from ${verified.fault?.external_account_number ?? null}`
    return { verified, there: found?.id ?? null }
  })
  return yield* rolledBack(attempt)
})

type Found = readonly [chain: Name, position: bigint, why: AuditFaultReason]

const entry = (name: Name, position: number) => `chain = ${name} and position = ${position}`
const set = (change: string, name: Name = "first", position = 2) =>
  `update audit_log set ${change} where ${entry(name, position)}`
const remove = (name: Name, position: number) =>
  `delete from audit_log where ${entry(name, position)}`
const head = (change: string, name: Name = "first") =>
  `update audit_chains set ${change} where id = ${name}`

/** An altered value for each column, and what is then found. */
const altered: Readonly<Record<string, readonly [tampering: string, found: Found]>> = {
  at: [set("at = at + interval '1 microsecond'"), ["first", 2n, "altered"]],
  organisation: [set("organisation = 'p'"), ["first", 2n, "altered"]],
  api_key: [set("api_key = 'l'"), ["first", 2n, "altered"]],
  request_id: [set("request_id = 'request-3'"), ["first", 2n, "altered"]],
  action: [set("action = 'process'"), ["first", 2n, "altered"]],
  outcome: [set("outcome = 'created'"), ["first", 2n, "altered"]],
  import_supplier: [set("import_supplier = 'T'"), ["first", 2n, "altered"]],
  external_account_number: [set("external_account_number = null"), ["first", 2n, "altered"]],
  chain: [set("chain = second, position = 3", "first", 4), ["first", 4n, "missing"]],
  position: [set("position = 9"), ["first", 2n, "missing"]],
  hash: [set("hash = sha256('x')"), ["first", 2n, "altered"]],
  id: [
    `alter table audit_log alter id drop identity; ${set("id = id + 1000")}`,
    ["first", 2n, "altered"]
  ]
}

const alteredHead: Readonly<Record<string, readonly [tampering: string, found: Found]>> = {
  id: [
    `alter table audit_chains alter id drop identity; ${head("id = id + 1000")}`,
    ["first", 1n, "head_missing"]
  ],
  organisation: [head("organisation = 'p'"), ["first", 1n, "altered"]],
  import_supplier: [head("import_supplier = 'T'"), ["first", 1n, "altered"]],
  external_account_number: [head("external_account_number = '3'"), ["first", 1n, "altered"]],
  length: [head("length = length + 1"), ["first", 5n, "missing"]],
  salt: [head("salt = sha256(salt)"), ["first", 1n, "altered"]],
  hmac: [head("hmac = sha256(hmac)"), ["first", 1n, "altered"]],
  head: [head("head = sha256('x')"), ["first", 4n, "head_differs"]]
}

const forged = (position: number, hash: string) => `
  insert into audit_log (at, organisation, api_key, request_id, action, outcome, import_supplier,
    external_account_number, chain, position, hash)
  select at, organisation, 'forged', request_id, action, outcome, import_supplier,
    external_account_number, chain, ${position}, ${hash}
  from audit_log where ${entry("first", position - 1)}`

/** The entry's own hash, as the trigger would have computed it. */
const rehashed = (name: Name, position: number) => `
  update audit_log set hash = audit_hash(
    (select hash from audit_log where ${entry(name, position - 1)}),
    position, audit_fields(audit_log) || netstring(coalesce(
      (select erased_number(hmac) from audit_chains where id = chain), external_account_number)))
  where ${entry(name, position)}`

const move = (from: number, to: number) => set(`position = ${to}`, "first", from)

const tamperings: ReadonlyArray<readonly [name: string, tampering: string, found: Found]> = [
  ["the first entry is gone", remove("first", 1), ["first", 1n, "missing"]],
  ["one in the middle is gone", remove("first", 3), ["first", 3n, "missing"]],
  ["the last one is gone", remove("first", 4), ["first", 4n, "missing"]],
  ["the last of the last chain is gone", remove("nameless", 3), ["nameless", 3n, "missing"]],
  [
    "all of a chain is gone but its head",
    "delete from audit_log where chain = second",
    ["second", 1n, "missing"]
  ],
  [
    "all of the last chain is gone but its head",
    "delete from audit_log where chain = nameless",
    ["nameless", 1n, "missing"]
  ],
  ["everything is gone but the heads", "delete from audit_log", ["first", 1n, "missing"]],
  [
    "the gap is closed",
    `${remove("first", 2)}; ${move(3, 2)}; ${move(4, 3)}; ${head("length = 3")}`,
    ["first", 2n, "altered"]
  ],
  [
    "one is added at the end",
    `${forged(5, "sha256('x')")}; ${rehashed("first", 5)}`,
    ["first", 5n, "beyond_head"]
  ],
  [
    "one is added at the end, and counted",
    `${forged(5, "sha256('x')")}; ${rehashed("first", 5)}; ${head("length = 5")}`,
    ["first", 5n, "head_differs"]
  ],
  [
    "one is put in between",
    `${move(4, 5)}; ${move(3, 4)}; ${forged(3, "sha256('x')")}; ${head("length = 5")}`,
    ["first", 3n, "altered"]
  ],
  [
    "one is put in between with a hash that fits",
    `${move(4, 5)}; ${move(3, 4)}; ${forged(3, "sha256('x')")}; ${rehashed("first", 3)};
      ${head("length = 5")}`,
    ["first", 4n, "altered"]
  ],
  [
    "one is altered, and its hash as well",
    `${set("outcome = 'created'")}; ${rehashed("first", 2)}`,
    ["first", 3n, "altered"]
  ],
  [
    "the last one is altered, and its hash as well",
    `${set("outcome = 'created'", "first", 4)}; ${rehashed("first", 4)}`,
    ["first", 4n, "head_differs"]
  ],
  [
    "a later chain is altered",
    set("outcome = 'created'", "nameless", 3),
    ["nameless", 3n, "altered"]
  ],
  [
    "two have changed places",
    `${move(2, 9)}; ${move(3, 2)}; ${move(9, 3)}`,
    ["first", 2n, "altered"]
  ],
  [
    "an entry was moved to another import",
    set("chain = first, position = 5", "second", 2),
    ["first", 5n, "beyond_head"]
  ],
  [
    "two imports have exchanged their entries",
    `${set("chain = 0", "first", 2)}; ${set("chain = first", "second", 2)};
      update audit_log set chain = second where chain = 0`,
    ["first", 2n, "altered"]
  ],
  [
    "two imports have exchanged their chains",
    `${head("external_account_number = '3'")};
      ${head("external_account_number = '${chains.first.external_account_number}'", "second")}`,
    ["first", 1n, "altered"]
  ],
  ["the head was set back", head("length = 3"), ["first", 4n, "beyond_head"]],
  [
    "the head is gone",
    "delete from audit_chains where id = second",
    ["second", 1n, "head_missing"]
  ],
  ["all heads are gone", "delete from audit_chains", ["first", 1n, "head_missing"]],
  [
    "a field has moved its end into the next",
    set("api_key = 'krequest-2', request_id = ''"),
    ["first", 2n, "altered"]
  ]
]

const cases = [
  ...Object.entries(altered).map(([column, [tampering, found]]) => ({
    name: `the ${column} of an entry is altered`,
    tampering,
    found
  })),
  ...Object.entries(alteredHead).map(([column, [tampering, found]]) => ({
    name: `the ${column} of a head is altered`,
    tampering,
    found
  })),
  ...tamperings.map(([name, tampering, found]) => ({ name, tampering, found }))
]

/** The name of the chain in the fault if its head was altered. */
const renamed: Readonly<Record<string, Partial<Chain>>> = {
  "the organisation of a head is altered": { organisation: "p" },
  "the import_supplier of a head is altered": { import_supplier: "T" },
  "the external_account_number of a head is altered": { external_account_number: "3" },
  "two imports have exchanged their chains": { external_account_number: "3" }
}

layer(storage, { excludeTestServices: true })("audit verification", (it) => {
  it.effect.each(cases)("detects that $name", ({ found, name, tampering }) =>
    Effect.gen(function* () {
      const { there, verified } = yield* tampered(tampering)
      const [chain, position, why] = found
      const id = why === "missing" ? null : BigInt(there ?? -1)
      const expected = { ...chains[chain], ...renamed[name], position, why, id }
      expect(verified.fault).toStrictEqual(expected)
    })
  )

  it.effect("accepts an unaltered log, and counts the entries", () =>
    Effect.gen(function* () {
      const { verified } = yield* tampered("select 1")
      expect(verified).toStrictEqual({ chains: 3, entries: 9, fault: null })
    })
  )

  it.effect("is tested with an altered value of every column", () =>
    Effect.gen(function* () {
      const columns = yield* rows(
        (sql) => sql<{ table: string; column: string }>`
        select table_name as table, column_name as column from information_schema.columns
        where table_name in ('audit_log', 'audit_chains') order by 1, 2`
      )
      expect(columns).toStrictEqual([
        ...Object.keys(alteredHead)
          .toSorted()
          .map((column) => ({ table: "audit_chains", column })),
        ...Object.keys(altered)
          .toSorted()
          .map((column) => ({ table: "audit_log", column }))
      ])
    })
  )
})
