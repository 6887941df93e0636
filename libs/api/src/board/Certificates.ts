/**
 * What the board shows of the certificates of a migration.
 * Source: docs/contract/board.md#certificates.
 */
import { Schema } from "effect"
import { CertificateRecordBody } from "../CertificateBody.ts"

export const BoardCertificateBody = Schema.Struct({
  ...CertificateRecordBody.fields,
  progress: Schema.NullOr(Schema.Struct({ done: Schema.Int, total: Schema.Int })).annotateKey({
    description: "How many of the accounts are done; null unless it is running and was begun."
  }),
  failed: Schema.NullOr(Schema.Struct({ why: Schema.String, remedy: Schema.String })).annotateKey({
    description: "Why there is none, and what to do."
  })
}).annotate({ identifier: "BoardCertificate" })

export const BoardCertificatesBody = Schema.Struct({
  certificates: Schema.Array(BoardCertificateBody).annotateKey({
    description: "The newest first. A viewer gets neither `certificate` nor `jws`."
  }),
  next_before: Schema.NullOr(Schema.String)
})
