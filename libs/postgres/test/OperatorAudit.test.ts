/** Actions of the operator are in the audit log, with the operator's name. */
import { expect, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import type { Supplier } from "@data-import/domain/suppliers/Supplier"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { WebhookId } from "@data-import/domain/events/EventLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import {
  freshApiKey,
  freshOrganisation,
  freshOrganisationName,
  freshSupplier,
  noon,
  noonPlus,
  supplierOf
} from "@data-import/domain/testing/freshNames"
import { arrange } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { sealAll, verified } from "../testing/auditLog.ts"

/** Runs the work as a command of the operator; returns its entries in the audit log. */
const audited = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const auditLog = yield* AuditLog
  const requestId = RequestId.make(crypto.randomUUID())
  const result = yield* Effect.result(
    Effect.provideService(work, CurrentOperator, { name: "Ada Løve", requestId })
  )
  const entries = yield* auditLog.ofRequest(requestId)
  for (const { apiKey } of entries) expect(apiKey).toBe("operator:Ada Løve")
  const shown = entries.map((entry) => [
    entry.organisation,
    entry.import_supplier,
    entry.external_account_number,
    entry.action,
    entry.outcome
  ])
  return { result, entries: shown }
})

const unique = () => `value ${crypto.randomUUID()}`

const organisationsAndKeys = (it: TestDatabase.It): void => {
  it.effect("is recorded for organisations and keys", () =>
    Effect.gen(function* () {
      const setup = yield* Configuration
      const keys = yield* ApiKeys
      const organisation = freshOrganisationName()
      const created = yield* audited(setup.createOrganisation(organisation, noon))
      expect(created.entries).toEqual([
        [organisation, null, null, "create_organisation", "created"]
      ])
      const key = freshApiKey(organisation, { scopes: ["import:read", "account:read"] })
      expect((yield* audited(keys.issue(key))).entries).toEqual([
        [organisation, null, null, "issue_key", `issued ${key.id} for import:read account:read`]
      ])
      const revoke = keys.revoke(key.id, noonPlus(1))
      expect((yield* audited(revoke)).entries).toEqual([
        [organisation, null, null, "revoke_key", `revoked ${key.id}`]
      ])
      expect((yield* audited(revoke)).entries).toEqual([
        [organisation, null, null, "revoke_key", `unchanged ${key.id}`]
      ])
    })
  )
}

const suppliers = (it: TestDatabase.It): void => {
  it.effect("is recorded for suppliers", () =>
    Effect.gen(function* () {
      const setup = yield* Configuration
      const { name: organisation } = yield* freshOrganisation
      const supplier = supplierOf(organisation)
      const { code } = supplier
      const of = (action: string, outcome: string) => [[organisation, code, null, action, outcome]]
      expect((yield* audited(setup.createSupplier(supplier))).entries).toEqual(
        of("create_supplier", "created")
      )
      const settings = { timeZone: TimeZone.make("Europe/Oslo"), customerEmails: true }
      expect((yield* audited(setup.configureSupplier(code, settings))).entries).toEqual(
        of("configure_supplier", "set customer_emails time_zone")
      )
      const pause = setup.changeSupplierStatus(code, () => Result.succeed("Paused"))
      expect((yield* audited(pause)).entries).toEqual(of("change_supplier_status", "paused"))
      expect((yield* audited(pause)).entries).toEqual(of("change_supplier_status", "unchanged"))
    })
  )
}

const deployment = (it: TestDatabase.It): void => {
  it.effect("is recorded for the deployment's teams and choices", () =>
    Effect.gen(function* () {
      const setup = yield* Configuration
      const team = unique()
      const value = unique()
      expect((yield* audited(setup.createTeam(team))).entries).toEqual([
        ["*", null, null, "create_team", `created ${team}`]
      ])
      expect((yield* audited(setup.addCode("reason", value))).entries).toEqual([
        ["*", null, null, "add_choice", `added reason ${value}`]
      ])
      expect((yield* audited(setup.addCode("reason", value))).entries).toEqual([
        ["*", null, null, "add_choice", "unchanged"]
      ])
    })
  )
}

const skips = (it: TestDatabase.It): void => {
  it.effect("is recorded for skipped imports", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const set = (skipped: boolean) => imports.setSkipped({ key, skipped, at: noonPlus(5) })
      const of = (action: string, outcome: string) => {
        const { external_account_number, import_supplier } = key
        return [[caller.organisation, import_supplier, external_account_number, action, outcome]]
      }
      expect((yield* audited(set(true))).entries).toEqual(of("skip_import", "changed"))
      expect((yield* audited(set(true))).entries).toEqual(of("skip_import", "unchanged"))
      expect((yield* audited(set(false))).entries).toEqual(of("unskip_import", "changed"))
    })
  )
}

const webhooks = (it: TestDatabase.It): void => {
  it.effect("is recorded for webhooks", () =>
    Effect.gen(function* () {
      const { create, disable, enable, replay, rotate, test } = yield* Webhooks
      const { name: organisation } = yield* freshOrganisation
      const id = WebhookId.make(crypto.randomUUID())
      const secret = Redacted.make("whsec_dGVzdA==")
      const url = "https://receiver.example/"
      const all = { suppliers: null, names: null, allowsPrivate: false }
      const of = (outcome: string, action = "change_webhook") => [
        [organisation, null, null, action, `${outcome} ${id}`]
      ]
      const created = create({ id, organisation, url, ...all, createdAt: noon, secret })
      expect((yield* audited(created)).entries).toEqual(of("created", "create_webhook"))
      const at = noonPlus(1)
      const rotated = rotate({ id, secret, at, oldUntil: noonPlus(2) })
      expect((yield* audited(rotated)).entries).toEqual(of("rotated"))
      expect((yield* audited(test({ id, at }))).entries).toEqual(of("tested"))
      const replayed = replay({ id, events: { next: 1, to: 2 } })
      expect((yield* audited(replayed)).entries).toEqual(of("replays to"))
      expect((yield* audited(replayed)).entries).toEqual([])
      expect((yield* audited(disable(id))).entries).toEqual(of("disabled"))
      expect((yield* audited(enable({ id, at }))).entries).toEqual(of("enabled"))
      yield* disable(id)
    })
  )
}

const nothing = (it: TestDatabase.It): void => {
  it.effect("is not recorded if it is refused, or is not a command of the operator", () =>
    Effect.gen(function* () {
      const setup = yield* Configuration
      const keys = yield* ApiKeys
      const imports = yield* ImportProcesses
      const { keyOf, supplier } = yield* freshSupplier
      const team = unique()
      yield* setup.createTeam(team)
      const entries = (yield* Effect.andThen(sealAll, verified)).entries
      const unknown: Supplier = supplierOf(freshOrganisationName())
      const refused = [
        setup.createOrganisation(supplier.organisation, noon),
        setup.createSupplier(supplier),
        setup.createSupplier(unknown),
        setup.configureSupplier(unknown.code, { documentCheck: true }),
        setup.changeSupplierStatus(unknown.code, () => Result.succeed("Paused")),
        setup.changeSupplierStatus(supplier.code, () => Result.fail("no")),
        setup.createTeam(team),
        keys.issue(freshApiKey(unknown.organisation)),
        keys.revoke(freshApiKey(supplier.organisation).id, noon),
        imports.setSkipped({ key: keyOf("unknown"), skipped: true, at: noon })
      ]
      for (const work of refused) {
        expect((yield* audited(work as Effect.Effect<unknown, unknown>)).entries).toEqual([])
      }
      expect((yield* Effect.andThen(sealAll, verified)).entries).toBe(entries)
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "What the operator does",
  (it) => {
    organisationsAndKeys(it)
    suppliers(it)
    deployment(it)
    skips(it)
    webhooks(it)
    nothing(it)
  }
)
