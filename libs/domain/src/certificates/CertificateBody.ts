/**
 * The body of a certificate in answers.
 * Source: docs/contract/certificates.md#reading.
 */
import { formatInstant } from "../schema/Field.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { CertificateRecord } from "./Certificates.ts"

const countsOf = ({ issued }: CertificateRecord) => {
  if (issued === null) return null
  const { documents, erased, reverted, states, tree_size } = issued.content
  return { tree_size, states, erased, reverted, documents: documents.count }
}

/**
 * For a reader who may not read balances it has none, and no hash with which one could be guessed.
 */
export const certificateBody = (record: CertificateRecord, mayReadBalances: boolean) => ({
  certificate_id: record.id as string,
  import_supplier: wireCode(record.supplier) as string,
  cohort: record.cohort,
  status: record.status,
  requested_at: formatInstant(record.requestedAt),
  ended_at: record.endedAt && formatInstant(record.endedAt),
  issued_by: record.issuedBy,
  counts: countsOf(record),
  ...(mayReadBalances && {
    certificate: record.issued?.content ?? null,
    jws: record.issued?.jws ?? null
  })
})
