/** What the operator commands print about the audit log. */
import { makeAuditHeadExport } from "@data-import/domain/audit/AuditHeads"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { type AuditFault, AuditLog } from "@data-import/domain/audit/AuditLog"
import { arrange } from "@data-import/domain/testing/importStates"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import { memory } from "./commandLine.ts"

/** Verifies a log of two entries, in which `fault` is found. */
const verify = Effect.fnUntraced(function* (
  fault: AuditFault | null,
  ...args: ReadonlyArray<string>
) {
  const ports = yield* Layer.build(memory)
  yield* Effect.provideContext(arrange("imported"), ports)
  const log = yield* Effect.provideContext(AuditLog, ports)
  const found = Effect.map(log.verifyAudit, (verified) => ({ ...verified, fault }))
  const storage = Layer.merge(
    Layer.succeedContext(ports),
    Layer.succeed(AuditLog, { ...log, verifyAudit: found })
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
    const out = "Read 2 entries in 1 chains: all are as they were written."
    expect(yield* verify(null)).toEqual({ done: true, status: 0, out, err: "" })
  })
)

it.effect("an unaltered audit log is counted as JSON", () =>
  Effect.gen(function* () {
    const { done, err, out } = yield* verify(null, "--json")
    expect({ done, err }).toEqual({ done: true, err: "" })
    expect(JSON.parse(out)).toEqual({ chains: 1, entries: 2, fault: null })
  })
)

const altered: AuditFault = {
  organisation: "acme",
  import_supplier: "S",
  external_account_number: "n\u{1B}[2J",
  position: 3n,
  id: 12n,
  why: "altered"
}

it.effect.each<readonly [AuditFault, string]>([
  [altered, "Entry 3 (id 12) of acme S n [2J: it is not what was written there."],
  [{ ...altered, id: null, why: "missing" }, "Entry 3 of acme S n [2J: it is missing."],
  [
    { ...altered, external_account_number: null, why: "beyond_head" },
    "Entry 3 (id 12) of acme S -: the head of the chain ends before it."
  ],
  [
    { ...altered, import_supplier: null, why: "head_differs" },
    "Entry 3 (id 12) of acme - n [2J: it is the last, and the head of the chain says otherwise."
  ],
  [{ ...altered, why: "head_missing" }, "Entry 3 (id 12) of acme S n [2J: its chain has no head."],
  [
    { ...altered, organisation: "acme-test", import_supplier: " S" },
    "Entry 3 (id 12) of acme-test S n [2J: it is not what was written there."
  ],
  [
    { ...altered, import_supplier: " " },
    "Entry 3 (id 12) of acme  n [2J: it is not what was written there."
  ]
])("an altered entry is named, and the command fails: %o", ([fault, why]) =>
  Effect.gen(function* () {
    const { done, err, out } = yield* verify(fault)
    expect({ done, out }).toEqual({
      done: false,
      out: "Read 2 entries in 1 chains before an altered one."
    })
    expect(err).toContain(why)
  })
)

it.effect.each(["S", " S"])("an altered entry is named as JSON: supplier '%s'", (stored) =>
  Effect.gen(function* () {
    const fault = { ...altered, import_supplier: stored }
    const { done, err, out, status } = yield* verify(fault, "--json")
    expect({ done, status }).toEqual({ done: false, status: 1 })
    expect(err).toContain("Entry 3")
    expect(JSON.parse(out)).toEqual({
      chains: 1,
      entries: 2,
      fault: { ...altered, position: 3, id: 12 }
    })
  })
)

/** Runs the command on a log of two entries whose heads are kept, with `fault` found in them. */
const compare = Effect.fnUntraced(function* (wanted: string, fault: AuditFault | null) {
  const ports = yield* Layer.build(memory)
  yield* Effect.provideContext(arrange("imported"), ports)
  const log = Context.get(ports, AuditLog)
  const store = Context.get(ports, AuditHeadStore)
  if (wanted !== "latest without any") yield* makeAuditHeadExport(log, store).exportDay
  const verifyHeads = () => Effect.succeed(fault)
  const storage = Layer.merge(
    Layer.succeedContext(ports),
    Layer.succeed(AuditLog, { ...log, verifyHeads })
  )
  const [against = ""] = wanted.split(" ")
  const line = ["audit", "verify", "--against", against]
  const exit = yield* Effect.exit(Effect.provide(run(line, storage, "tester"), NodeServices.layer))
  const out = (yield* TestConsole.logLines).join("\n")
  const err = (yield* TestConsole.errorLines).join("\n")
  return { done: Exit.isSuccess(exit), out, err }
})

it.effect("an audit log with its kept heads is reported as such", () =>
  Effect.gen(function* () {
    const { done, err, out } = yield* compare("latest", null)
    expect({ done, err }).toEqual({ done: true, err: "" })
    expect(out).toBe(
      "Read 2 entries in 1 chains: all are as they were written, and as 1970-01-01 has their " +
        "1 heads of 1970-01-01T00:00:00.000Z."
    )
  })
)

it.effect("an audit log without a kept head is reported at its entry", () =>
  Effect.gen(function* () {
    const { done, err } = yield* compare("latest", { ...altered, why: "kept_head_differs" })
    expect(done).toBe(false)
    expect(err).toContain("it is not what the kept heads say: the chain was written anew.")
  })
)

it.effect.each<readonly [wanted: string, why: string]>([
  ["latest without any", "The document store has no export of heads."],
  ["/no/such/file", "/no/such/file cannot be read."],
  [import.meta.filename, "is no export of heads, or cut off: line 1."]
])("a comparison with %s is refused", ([wanted, why]) =>
  Effect.gen(function* () {
    const { done, err } = yield* compare(wanted, null)
    expect(done).toBe(false)
    expect(err).toContain(why)
  })
)
