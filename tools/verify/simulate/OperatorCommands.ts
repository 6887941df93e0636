/** The commands of the operator, which work on the storage directly. */
import { DateTime, Effect, Result } from "effect"
import { utc } from "@data-import/domain/suppliers/BusinessDay"
import { changeStatus, type Supplier } from "@data-import/domain/suppliers/Supplier"
import * as Tenants from "@data-import/testbed/Tenants"
import type { Order } from "./Request.ts"
import type { Storage } from "./Storage.ts"
import { emailing, timeZones } from "./Traffic.ts"

/** A refusal of an operator's command. */
class Refusal {
  readonly _tag = "Refusal"
  readonly code: string
  constructor(code: string) {
    this.code = code
  }
}

/** A new supplier as the simulation sets them up: its documents are checked. */
export const supplierOf = (
  code: Supplier["code"],
  organisation: Supplier["organisation"]
): Supplier =>
  Tenants.supplierOf(code, organisation, {
    documentCheck: true,
    customerEmails: emailing.has(code),
    timeZone: timeZones.get(code) ?? utc
  })

const setStatus = ({ configuration }: Storage, { reopen, supplier, to }: Order<"setStatus">) =>
  configuration
    .changeSupplierStatus(supplier, (present) =>
      Result.mapError(changeStatus(present, to, reopen), () => new Refusal("refused"))
    )
    .pipe(Effect.map(({ status }) => status))

const setWindow = ({ configuration }: Storage, { days, supplier }: Order<"setWindow">) =>
  configuration
    .configureSupplier(supplier, { revertWindow: days })
    .pipe(Effect.map(({ revertWindow }) => `${revertWindow}`))

const skip = ({ imports }: Storage, { key, skipped }: Order<"skip">) =>
  DateTime.now.pipe(
    Effect.flatMap((at) => imports.setSkipped({ key, skipped, at })),
    Effect.flatMap((set) =>
      set._tag === "Set"
        ? Effect.succeed("set")
        : Effect.fail(new Refusal(set.found?._tag ?? "None"))
    )
  )

/** Runs a command; returns the `message` of the answer. */
export const commanded = (
  storage: Storage,
  order: Order<"skip" | "setStatus" | "setWindow" | "createSupplier">
) => {
  switch (order.kind) {
    case "skip":
      return skip(storage, order)
    case "setStatus":
      return setStatus(storage, order)
    case "setWindow":
      return setWindow(storage, order)
    case "createSupplier":
      return Effect.as(
        storage.configuration.createSupplier(supplierOf(order.supplier, order.organisation)),
        "created"
      )
  }
}
