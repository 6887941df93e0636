/** The rows of certificates, as records. */
import { Effect, Schema } from "effect"
import { Certificate } from "@data-import/domain/certificates/Certificate"
import {
  CertificateId,
  type CertificateRecord,
  certificateStatuses,
  certificateSteps
} from "@data-import/domain/certificates/Certificates"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import type { SqlError } from "effect/sql"
import { rowsOf } from "../connection/Database.ts"

const Instant = Schema.DateTimeUtcFromDate

export const certificateColumns =
  'id, supplier, cohort, status, requested_at as "requestedAt", ended_at as "endedAt", ' +
  "issued_by as \"issuedBy\", content, jws, failure, case when status = 'RUNNING' then (" +
  "select json_build_object('done', done, 'total', total) from certificate_progress " +
  "where certificate = certificates.id) end as progress"

const rows = rowsOf(
  Schema.Struct({
    id: CertificateId,
    supplier: SupplierCode,
    cohort: Schema.NullOr(Schema.String),
    status: Schema.Literals(certificateStatuses),
    requestedAt: Instant,
    endedAt: Schema.NullOr(Instant),
    issuedBy: Certificate.fields.issued_by,
    progress: Schema.NullOr(Schema.Struct({ done: Schema.Int, total: Schema.Int })),
    failure: Schema.NullOr(Schema.Literals(certificateSteps)),
    content: Schema.NullOr(Certificate),
    jws: Schema.NullOr(Schema.String)
  })
)

export const certificatesIn = <E extends SqlError.SqlError>(
  statement: Effect.Effect<ReadonlyArray<object>, E>
) =>
  Effect.map(rows(statement), (found) =>
    found.map(({ content, jws, ...record }): CertificateRecord => ({
      ...record,
      issued: content === null || jws === null ? null : { content, jws }
    }))
  )
