/**
 * The parts of a supplier's configuration that validation uses, as the query answers them. The
 * configuration file of `data-import check` has the same members.
 * Source: docs/contract/queries.md#configuration.
 */
import { Schema } from "effect"
import type { SupplierConfiguration } from "@data-import/domain/suppliers/ConfigurationQuery"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { OpenCodeList } from "@data-import/domain/schema/CodeLists"
import { sampleKey } from "./Examples.ts"

const byList = <A>(value: (list: OpenCodeList) => A) =>
  Object.fromEntries(OpenCodeList.literals.map((list) => [list, value(list)])) as {
    readonly [List in OpenCodeList]: A
  }

const added = (list: OpenCodeList) =>
  Schema.Array(Schema.String).annotate({ description: `The values added to \`${list}\`.` })

const Choices = Schema.Struct(byList(added)).annotate({
  identifier: "AddedChoices",
  description:
    "The values that the operator added to each open list, in the order in which they were added. " +
    "Those of the rules are not among them."
})

export const ConfigurationBody = Schema.Struct({
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  time_zone: Schema.String.annotate({
    description: "The name of the time zone (IANA) of the supplier's business day."
  }),
  choices: Choices
}).annotate({
  identifier: "SupplierConfiguration",
  description: "What accounts of the supplier are validated by, beside the rules themselves."
})
export type ConfigurationBody = typeof ConfigurationBody.Type

/** The members of the answer. */
export const configurationBody = (read: SupplierConfiguration): ConfigurationBody => ({
  import_supplier: wireCode(read.supplier),
  time_zone: read.timeZone,
  choices: byList((list) => read.codeLists[list] ?? [])
})

export const exampleConfiguration: ConfigurationBody = {
  import_supplier: sampleKey.import_supplier,
  time_zone: "Europe/London",
  choices: {
    ...byList(() => []),
    sales_channel: ["CARRIER_PIGEON"],
    ledger_code: ["ELECTRICITY_LEDGER", "GAS_LEDGER"]
  }
}
