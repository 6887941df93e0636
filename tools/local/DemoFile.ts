/**
 * The contents of `DATA_DIR/demo.json`, which holds what a client needs to use the demo tenant.
 * Source: docs/contract/local-run.md#the-demo-tenant.
 */
import { Schema } from "effect"

export const Demo = Schema.Struct({
  baseUrl: Schema.String,
  apiKey: Schema.String,
  /** The key of an organisation that has no access to the first one's data. */
  rivalApiKey: Schema.String,
  /**
   * The key of the test organisation of the first one, which has the same `importSupplier`. An
   * earlier version wrote none.
   */
  testApiKey: Schema.optionalKey(Schema.String),
  importSupplier: Schema.String,
  operationsTeamName: Schema.String,
  /** The absolute folder in which the document paths of `importSupplier` start. */
  documentsDir: Schema.String
})
export type Demo = typeof Demo.Type

const DemoFile = Schema.fromJsonString(Demo, { space: 2 })
export const encode = Schema.encodeEffect(DemoFile)
export const decode = Schema.decodeEffect(DemoFile)
