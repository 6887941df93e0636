/**
 * The configuration of a supplier from the server, as a file: its time zone and the values that the
 * operator added to the open choices. Without it, the business day is that of UTC and no values are
 * added.
 * Source: docs/contract/queries.md#configuration.
 */
import { Effect, Option, Schema, Struct } from "effect"
import { ConfigurationBody } from "@data-import/api/ConfigurationBody"
import { timeZoneForm, timeZoneNamed, utc } from "@data-import/domain/suppliers/BusinessDay"
import { supplierCodeLength, type WireCode } from "@data-import/domain/suppliers/Supplier"
import type { CodeLists } from "@data-import/domain/schema/CodeLists"
import { SupplierCodeField } from "@data-import/domain/accounts/Account"
import { Refused } from "@data-import/terminal/Refused"
import { readText } from "../book/TextFile.ts"

export interface SupplierConfiguration {
  /** Null if it is left out. */
  readonly supplier: WireCode | null
  readonly timeZone: typeof utc
  readonly codeLists: CodeLists
}

const noConfiguration: SupplierConfiguration = {
  supplier: null,
  timeZone: utc,
  codeLists: {}
}

const { choices, import_supplier, time_zone } = ConfigurationBody.fields

const isTimeZone = Schema.makeFilter((name: string) => Option.isSome(timeZoneNamed(name)), {
  expected: timeZoneForm
})

/**
 * The answer of the service, each member of which may be left out. Unknown members are ignored,
 * because a later service may have more.
 */
const ConfigurationFile = Schema.Struct({
  import_supplier: import_supplier.pipe(Schema.decodeTo(SupplierCodeField)),
  time_zone: time_zone.check(isTimeZone),
  choices: choices.mapFields(Struct.map(Schema.optionalKey))
}).mapFields(Struct.map(Schema.optionalKey))

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ConfigurationFile))

export const supplierForm = `a code of 1 to ${supplierCodeLength} characters`

export const readConfiguration = (file: string): Effect.Effect<SupplierConfiguration, Refused> =>
  Effect.try({
    try: () => {
      const read = decode(readText(file))
      const zone = timeZoneNamed(read.time_zone ?? utc)
      return {
        supplier: read.import_supplier ?? null,
        timeZone: Option.getOrElse(zone, () => utc),
        codeLists: read.choices ?? {}
      }
    },
    catch: (error) =>
      new Refused({
        why: `Cannot use the configuration ${file}: ${error instanceof Error ? error.message : ""}`
      })
  })

/** The configuration as the flags name it; the supplier of the command line counts. */
export const configurationOf = Effect.fnUntraced(function* ({
  configuration,
  supplier
}: {
  readonly configuration: Option.Option<string>
  readonly supplier: Option.Option<WireCode>
}) {
  const read = Option.isSome(configuration)
    ? yield* readConfiguration(configuration.value)
    : noConfiguration
  return { ...read, supplier: Option.getOrElse(supplier, () => read.supplier) }
})
