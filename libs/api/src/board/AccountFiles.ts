/** Files about each account of a migration, for managers. */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { plainText } from "../Parameter.ts"

const { get } = HttpApiEndpoint
const migration = "/board/api/migrations/:import_supplier/"
const supplier = { import_supplier: Schema.String }
const text = Schema.optionalKey(plainText)

/** A stream, because a migration may have millions of accounts. */
const exportBalances = get("exportBalances", `${migration}balances.csv`, {
  params: supplier,
  query: Schema.Struct({ cohort: text }),
  success: Schema.String
})

/** A stream, for the same reason. */
const corrected = {
  params: supplier,
  query: Schema.Struct({
    cohort: text,
    code: text.annotateKey({ description: "Only errors with this code." }),
    batch_id: text.annotateKey({
      description: "Only the failed lines of this batch, which may be a rehearsal."
    })
  })
}

const exportCorrections = get("exportCorrections", `${migration}corrections.csv`, {
  ...corrected,
  success: Schema.String
})

const exportCorrectionSheet = get("exportCorrectionSheet", `${migration}corrections.xlsx`, {
  ...corrected,
  success: Schema.Uint8Array
})

export const accountFiles = [exportBalances, exportCorrections, exportCorrectionSheet] as const
