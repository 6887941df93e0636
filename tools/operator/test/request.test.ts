/** Who did what: the operator's own commands, and what is told of a request. */
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { MemoryStore } from "@data-import/domain/testing/memory/Store"
import { noon } from "@data-import/domain/testing/freshNames"
import { arrange as arrangeImport } from "@data-import/domain/testing/importStates"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import { arrange, memory } from "./commandLine.ts"

const entriesIn = (ports: Effect.Success<typeof arrange>["ports"]) =>
  Effect.map(Effect.provideContext(MemoryStore, ports), ({ audit }) =>
    audit.map(({ entry }) => `${entry.apiKey} ${entry.organisation} ${entry.action}`)
  )

describe("every command that writes", () => {
  it.effect("is in the audit log with the name after --as, or the login name", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      yield* done("organisation", "create", "acme", "--as", "Ada")
      const issued = yield* json("key", "issue", "acme")
      yield* done("key", "revoke", (issued as { readonly id: string }).id)
      yield* done("supplier", "create", "S", "--organisation", "acme", "--as=Bob B.")
      yield* done("supplier", "set", "S", "--customer-emails", "on")
      yield* done("supplier", "set-status", "S", "paused")
      yield* done("team", "create", "Team", "--as", "Ada")
      yield* done("choice", "add", "reason", "GIFT")
      expect(yield* entriesIn(ports)).toEqual([
        "operator:Ada acme create_organisation",
        "operator:tester acme issue_key",
        "operator:tester acme revoke_key",
        "operator:Bob B. acme create_supplier",
        "operator:tester acme configure_supplier",
        "operator:tester acme change_supplier_status",
        "operator:Ada * create_team",
        "operator:tester * add_choice"
      ])
    })
  )

  it.effect("records nothing for a command that reads no personal data", () =>
    Effect.gen(function* () {
      const { done, ports } = yield* arrange
      for (const noun of ["organisation", "supplier", "team", "choice"]) yield* done(noun, "list")
      expect(yield* entriesIn(ports)).toEqual([])
    })
  )

  it.effect("is refused without a name, and with one that has control characters", () =>
    Effect.gen(function* () {
      const ports = yield* Layer.build(memory)
      const attempt = (login: string, ...args: ReadonlyArray<string>) =>
        run(["team", "create", "T", ...args], Layer.succeedContext(ports), login).pipe(
          Effect.provide(NodeServices.layer),
          Effect.exit,
          Effect.map(Exit.isSuccess)
        )
      expect(yield* attempt("")).toBe(false)
      expect((yield* TestConsole.errorLines).join("\n")).toContain("Give your name: --as <name>.")
      expect(yield* attempt("root", "--as", "a\u{1B}[2J")).toBe(false)
      expect(yield* attempt("root", "--as", "x".repeat(65))).toBe(false)
      expect(yield* entriesIn(ports)).toEqual([])
      expect(yield* attempt("", "--as", "Ada")).toBe(true)
    })
  )
})

describe("request show", () => {
  it.effect("tells what a request did, in order", () =>
    Effect.gen(function* () {
      const { json, ports } = yield* arrange
      const { caller, key } = yield* Effect.provideContext(arrangeImport("imported"), ports)
      expect(yield* json("request", "show", caller.requestId)).toMatchObject(
        ["stage", "process"].map((action) => ({
          ...key,
          organisation: caller.organisation,
          api_key: caller.apiKey,
          action,
          outcome: "created"
        }))
      )
    })
  )

  it.effect("prints what a refused request named without control characters", () =>
    Effect.gen(function* () {
      const { done, ports } = yield* arrange
      const { caller } = yield* Effect.provideContext(arrangeImport("pending"), ports)
      const auditLog = yield* Effect.provideContext(AuditLog, ports)
      yield* auditLog.recordRefusal({
        key: { import_supplier: SupplierCode.make("S\u{1B}[2J"), external_account_number: null },
        action: "stage",
        outcome: "account_failed_validation",
        caller,
        at: noon
      })
      const out = yield* done("request", "show", caller.requestId)
      expect(out).toContain("S [2J")
      expect(out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u)
    })
  )

  it.effect("is refused for a request that the log does not have, and for an invalid id", () =>
    Effect.gen(function* () {
      const { refused } = yield* arrange
      yield* refused(["request", "show", "r-1"], "The audit log has nothing of the request r-1.")
      yield* refused(["request", "show", "a b"], "a request id: 1 to 128 letters")
    })
  )
})
