/**
 * A certificate on paper, for people to sign: its figures, and the hashes that tie it to the signed
 * record.
 * Source: docs/contract/board.md#certificates.
 */
import type { Signed } from "../certificates/Certificates.ts"
import { type Figure, figuresOf, hashInWords } from "../certificates/CertificateFigures.ts"
import type { SummaryDocument, SummaryRow } from "./SummaryDocument.ts"

const rowOf = ({ amount, count, hash, name, words }: Figure): SummaryRow => {
  if (hash !== undefined) return [name, hashInWords(hash)]
  if (words !== undefined) return [name, [amount ?? count ?? [], words].flat().join(", ")]
  if (amount === undefined) return [name, count ?? 0]
  return [name, count === undefined ? amount : `${amount} (${count})`]
}

const proved =
  "The signed record (JWS) of this certificate proves these figures. It is verified with the keys " +
  "that the deployment publishes at /.well-known/certificate-keys.json. Amounts are without a " +
  "currency: credit is positive, debit negative. A number in brackets counts what an amount is of."

export const certificateDocument = ({
  content,
  sha256
}: Signed & { readonly sha256: string }): SummaryDocument => {
  const { at, certificate_id, cohort, import_supplier, iss, issued_by, mode, previous } = content
  return {
    title: `Certificate ${certificate_id.slice(0, 8)} of ${import_supplier}`,
    sections: [
      {
        title: "Certificate",
        rows: [
          ["Import supplier", import_supplier],
          ["Accounts of", cohort === null ? "all cohorts" : `the cohort ${cohort}`],
          ["As of", at],
          ["Certificate", certificate_id],
          ["Issued by", `${issued_by.id} (${issued_by.role}) of ${issued_by.organisation}`],
          ["Deployment", `${iss} (${mode})`],
          ["Previous certificate", previous?.certificate_id ?? "none"],
          ["SHA-256 of the signed record", hashInWords(sha256)]
        ],
        note: proved
      },
      ...figuresOf(content).map(({ figures, title }) => ({ title, rows: figures.map(rowOf) }))
    ],
    signatures: [`For ${issued_by.organisation}`, "For the platform"]
  }
}
