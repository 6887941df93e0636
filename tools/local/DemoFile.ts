/**
 * What `DATA_DIR/demo.json` says: how the demo tenant is used.
 * Source: docs/contract/local-run.md#the-demo-tenant.
 */
import { Schema } from "effect"

export const Demo = Schema.Struct({
  baseUrl: Schema.String,
  apiKey: Schema.String,
  /** Of an organisation that may not see anything of the first. */
  rivalApiKey: Schema.String,
  importSupplier: Schema.String,
  operationsTeamName: Schema.String,
  /** The absolute folder in which the document paths of `importSupplier` start. */
  documentsDir: Schema.String
})
export type Demo = typeof Demo.Type

const DemoFile = Schema.fromJsonString(Demo, { space: 2 })
export const encode = Schema.encodeEffect(DemoFile)
export const decode = Schema.decodeEffect(DemoFile)
