/** The configuration of a supplier over HTTP. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { get, service } from "./queryService.ts"

const configurationPath = (supplier: string, query = ""): string =>
  `/v1/data-import/suppliers/${encodeURIComponent(supplier)}/configuration/${query}`

const nothingAdded = {
  sales_channel: [],
  reason: [],
  payment_type: [],
  ledger_code: [],
  product_code: [],
  vendor: []
}

layer(service, { excludeTestServices: true })("the configuration of a supplier", (it) => {
  it.effect("is its time zone and what the operator added to each open list", () =>
    Effect.gen(function* () {
      const { supplier, ...tenant } = yield* freshTenant()
      const read = Effect.map(get(tenant, configurationPath(supplier.code)), ({ json, status }) => {
        expect(status).toBe(200)
        return json
      })
      const import_supplier = supplier.code
      const choices = nothingAdded
      expect(yield* read).toStrictEqual({ import_supplier, time_zone: "UTC", choices })
      const setup = yield* Configuration
      const time_zone = TimeZone.make("Pacific/Kiritimati")
      yield* setup.configureSupplier(supplier.code, { timeZone: time_zone })
      yield* setup.addCode("ledger_code", "Z_LEDGER")
      yield* setup.addCode("ledger_code", "A_LEDGER")
      yield* setup.addCode("sales_channel", "CARRIER_PIGEON")
      const ledger_code = ["Z_LEDGER", "A_LEDGER"]
      const added = { ...nothingAdded, ledger_code, sales_channel: ["CARRIER_PIGEON"] }
      expect(yield* read).toStrictEqual({ import_supplier, time_zone, choices: added })
    })
  )
})
