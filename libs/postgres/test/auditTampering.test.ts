/**
 * Every way to tamper with the audit log is found at the right entry, even if the database's own
 * protection is disabled.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { AuditFaultReason } from "@data-import/domain/audit/AuditVerification"
import { Database } from "../src/connection/Database.ts"
import { layer as sealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { sealAll, verified } from "../testing/auditLog.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(sealedAuditLog, TestDatabase.layer)

const numbers = ["Ä-1\u{1F600}", "2", null]

const entries = 5

/** Writes and seals five entries, of several imports and of none. */
const arrange = Effect.gen(function* () {
  const { sql } = yield* Database
  for (let index = 0; index < entries; index++) {
    yield* sql`
      insert into audit_log ${sql.insert({
        at: new Date("2026-01-01T12:00:00.123Z"),
        organisation: "o",
        api_key: "k",
        request_id: `request-${index + 1}`,
        action: "stage",
        outcome: "replaced",
        import_supplier: "S",
        external_account_number: numbers[index % 3] ?? null
      })}`
  }
  expect(yield* sealAll).toBe(entries)
})

/** What is found after the tampering, which is then rolled back. */
const tampered = Effect.fnUntraced(function* (tampering: string) {
  const { sql } = yield* Database
  const attempt = Effect.gen(function* () {
    yield* arrange
    yield* sql.unsafe("set local session_replication_role = replica")
    for (const statement of tampering.split(";")) yield* sql.unsafe(statement)
    return yield* verified
  })
  return yield* rolledBack(attempt)
})

type Found = readonly [position: bigint, why: AuditFaultReason]

const set = (change: string, position = 2) =>
  `update audit_log set ${change} where position = ${position}`
const remove = (position: number) => `delete from audit_log where position = ${position}`
const move = (from: number, to: number) => set(`position = ${to}`, from)
const head = (change: string) => `update audit_head set ${change}`

/** The leaf that the entry would have been sealed with. */
const resealed = (position: number) => set("leaf = audit_leaf(audit_log, salt)", position)

const forged = (position: number) => `
  insert into audit_log (at, organisation, api_key, request_id, action, outcome, position, leaf)
  values (now(), 'o', 'forged', 'r', 'stage', 'created', ${position}, sha256('x'));
  ${resealed(position)}`

/** An altered value for each column, and what is then found. */
const altered: Readonly<Record<string, readonly [tampering: string, found: Found]>> = {
  at: [set("at = at + interval '1 microsecond'"), [2n, "altered"]],
  organisation: [set("organisation = 'p'"), [2n, "altered"]],
  api_key: [set("api_key = 'l'"), [2n, "altered"]],
  request_id: [set("request_id = 'request-3'"), [2n, "altered"]],
  action: [set("action = 'process'"), [2n, "altered"]],
  outcome: [set("outcome = 'created'"), [2n, "altered"]],
  import_supplier: [set("import_supplier = 'T'"), [2n, "altered"]],
  external_account_number: [set("external_account_number = null"), [2n, "altered"]],
  position: [set("position = 9"), [2n, "missing"]],
  salt: [set("salt = uuid_send(gen_random_uuid())"), [2n, "altered"]],
  leaf: [set("leaf = sha256('x')"), [2n, "altered"]],
  id: [`alter table audit_log alter id drop identity; ${set("id = id + 1000")}`, [2n, "altered"]]
}

const tamperings: ReadonlyArray<readonly [name: string, tampering: string, found: Found]> = [
  [
    "the number and its salt are gone",
    set("external_account_number = null, salt = null"),
    [2n, "altered"]
  ],
  ["the first entry is gone", remove(1), [1n, "missing"]],
  ["one in the middle is gone", remove(3), [3n, "missing"]],
  ["the last one is gone", remove(5), [5n, "missing"]],
  ["everything is gone but the head", "delete from audit_log", [1n, "missing"]],
  [
    "the gap is closed",
    `${remove(2)}; ${move(3, 2)}; ${move(4, 3)}; ${move(5, 4)}; ${head("size = 4")}`,
    [4n, "head_differs"]
  ],
  ["one is added at the end", forged(6), [6n, "beyond_head"]],
  [
    "one is added at the end, and counted",
    `${forged(6)}; ${head("size = 6")}`,
    [6n, "head_differs"]
  ],
  [
    "one is put in between",
    `${move(5, 6)}; ${move(4, 5)}; ${move(3, 4)}; ${forged(3)}; ${head("size = 6")}`,
    [6n, "head_differs"]
  ],
  ["one is written twice", forged(3), [3n, "altered"]],
  [
    "one is altered, and its leaf as well",
    `${set("outcome = 'created'")}; ${resealed(2)}`,
    [5n, "head_differs"]
  ],
  ["two have changed places", `${move(2, 9)}; ${move(3, 2)}; ${move(9, 3)}`, [5n, "head_differs"]],
  [
    "two imports have exchanged their entries",
    `${set("external_account_number = '2'", 1)}`,
    [1n, "altered"]
  ],
  ["the head was set back", head("size = 3"), [4n, "beyond_head"]],
  ["the head was set forward", head("size = 6"), [6n, "missing"]],
  ["the head has another root", head("root = sha256('x')"), [5n, "head_differs"]],
  ["the head is gone", "delete from audit_head", [1n, "beyond_head"]],
  [
    "a field has moved its end into the next",
    set("api_key = 'krequest-2', request_id = ''"),
    [2n, "altered"]
  ]
]

const cases = [
  ...Object.entries(altered).map(([column, [tampering, found]]) => ({
    name: `the ${column} of an entry is altered`,
    tampering,
    found
  })),
  ...tamperings.map(([name, tampering, found]) => ({ name, tampering, found }))
]

layer(storage, { excludeTestServices: true })("audit verification", (it) => {
  it.effect.each(cases)("detects that $name", ({ found, tampering }) =>
    Effect.gen(function* () {
      const { fault } = yield* tampered(tampering)
      expect([fault?.position, fault?.why]).toStrictEqual(found)
      expect(fault?.entry !== null).toBe(found[1] === "altered")
    })
  )

  it.effect("accepts an unaltered log, and counts the entries", () =>
    Effect.gen(function* () {
      expect(yield* tampered("select 1")).toStrictEqual({ entries, fault: null })
    })
  )

  it.effect("is tested with an altered value of every column", () =>
    Effect.gen(function* () {
      const columns = yield* rows(
        (sql) => sql<{ column: string }>`
        select column_name as column from information_schema.columns
        where table_name = 'audit_log' order by 1`
      )
      expect(columns.map(({ column }) => column)).toStrictEqual(Object.keys(altered).toSorted())
    })
  )
})
