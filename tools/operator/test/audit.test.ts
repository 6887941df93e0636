/** What the operator commands print about the audit log. */
import { makeAuditExport } from "@data-import/domain/audit/AuditExport"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { SealedAuditLog, type SealedEntry } from "@data-import/domain/audit/SealedAuditLog"
import { arrange } from "@data-import/domain/testing/importStates"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import { memory } from "./commandLine.ts"

type Alter = (entries: ReadonlyArray<SealedEntry>) => ReadonlyArray<SealedEntry>

const asIs: Alter = (entries) => entries

/** Runs `audit verify` on a log of two sealed entries, altered after they were exported. */
const verify = Effect.fnUntraced(function* (
  alter: Alter,
  args: ReadonlyArray<string> = [],
  isExported = true
) {
  const ports = yield* Layer.build(memory)
  yield* Effect.provideContext(arrange("imported"), ports)
  const log = Context.get(ports, SealedAuditLog)
  yield* log.seal(10)
  if (isExported) yield* makeAuditExport(log, Context.get(ports, AuditHeadStore)).exportDay
  const entries: typeof log.entries = (page) => Effect.map(log.entries(page), alter)
  const storage = Layer.merge(
    Layer.succeedContext(ports),
    Layer.succeed(SealedAuditLog, { ...log, entries })
  )
  const exit = yield* Effect.exit(
    Effect.provide(run(["audit", "verify", ...args], storage, "tester"), NodeServices.layer)
  )
  const out = (yield* TestConsole.logLines).join("\n")
  const err = (yield* TestConsole.errorLines).join("\n")
  return { done: Exit.isSuccess(exit), status: exitStatusOf(exit), out, err }
})

it.effect("an unaltered audit log is counted", () =>
  Effect.gen(function* () {
    const out = "Read 2 entries: all are as they were written."
    expect(yield* verify(asIs)).toEqual({ done: true, status: 0, out, err: "" })
  })
)

it.effect("an unaltered audit log is counted as JSON", () =>
  Effect.gen(function* () {
    const { done, err, out } = yield* verify(asIs, ["--json"])
    expect({ done, err }).toEqual({ done: true, err: "" })
    expect(JSON.parse(out)).toEqual({ entries: 2, fault: null })
  })
)

/** The second entry with other members. */
const secondWith =
  (members: Partial<SealedEntry>): Alter =>
  (entries) =>
    entries.map((entry) => (entry.position === 2n ? { ...entry, ...members } : entry))

const altered = {
  present: "",
  organisation: "acme",
  import_supplier: "S",
  external_account_number: "n\u{1B}[2J"
}

it.effect.each<readonly [what: string, alter: Alter, why: string]>([
  ["altered", secondWith(altered), "Entry 2 (id 2) of acme S n [2J: it is not what was written"],
  [
    "gone",
    (entries) => entries.filter(({ position }) => position !== 2n),
    "Entry 2: it is missing."
  ],
  [
    "of no supplier",
    secondWith({ ...altered, import_supplier: null }),
    "Entry 2 (id 2) of acme - n [2J: it is not what was written"
  ],
  [
    "of a test supplier",
    secondWith({ ...altered, organisation: "acme-test", import_supplier: " S" }),
    "Entry 2 (id 2) of acme-test S n [2J: it is not what was written"
  ],
  [
    "altered with its hash",
    secondWith({ hash: "ab".repeat(32), present: "ab".repeat(32) }),
    "Entry 2: an entry up to here was altered together with its hash."
  ],
  [
    "one too many",
    (entries) => [...entries, ...entries.map((entry) => ({ ...entry, position: 3n })).slice(0, 1)],
    "Entry 3: the head of the log ends before it."
  ]
])("an entry that is %s is named, and the command fails", ([, alter, why]) =>
  Effect.gen(function* () {
    const { done, err, out, status } = yield* verify(alter)
    expect({ done, status }).toEqual({ done: false, status: 1 })
    expect(out).toMatch(/^Read [123] entries before an altered one\.$/)
    expect(err).toContain(why)
  })
)

it.effect("an altered entry is named as JSON", () =>
  Effect.gen(function* () {
    const { err, out } = yield* verify(secondWith({ ...altered, import_supplier: " S" }), [
      "--json"
    ])
    expect(err).toContain("Entry 2")
    const { external_account_number, organisation } = altered
    const fault = { position: 2, id: 2, organisation, import_supplier: "S", why: "altered" }
    expect(JSON.parse(out)).toEqual({ entries: 1, fault: { ...fault, external_account_number } })
  })
)

const latest = ["--against", "latest"]

it.effect("an audit log that is as it was exported is reported as such", () =>
  Effect.gen(function* () {
    const { done, err, out } = yield* verify(asIs, latest)
    expect({ done, err }).toEqual({ done: true, err: "" })
    expect(out).toBe(
      "Read 2 entries: all are as they were written, and as 1970-01-01 has them of " +
        "1970-01-01T00:00:00.000Z."
    )
  })
)

it.effect("an entry that was exported otherwise is named", () =>
  Effect.gen(function* () {
    const hash = "ab".repeat(32)
    const { done, err } = yield* verify(secondWith({ hash, present: hash }), latest)
    expect(done).toBe(false)
    expect(err).toContain("it is not what the export says: the log was written anew.")
  })
)

it.effect.each<readonly [wanted: string, isExported: boolean, why: string]>([
  ["latest", false, "The document store has no export of the log."],
  ["/no/such/file", true, "/no/such/file cannot be read."],
  [import.meta.filename, true, "is no export of the log, or cut off: line 1."]
])("a comparison with %s is refused", ([wanted, isExported, why]) =>
  Effect.gen(function* () {
    const { done, err } = yield* verify(asIs, ["--against", wanted], isExported)
    expect(done).toBe(false)
    expect(err).toContain(why)
  })
)
