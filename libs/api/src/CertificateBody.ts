/**
 * The bodies of certificates, of proofs, and of the nodes of a tree, with their descriptions.
 * Source: docs/contract/certificates.md.
 */
import { Schema } from "effect"
import { Certificate, type CertifiedSums } from "@data-import/domain/certificates/Certificate"
import { CertificatePayload } from "@data-import/domain/certificates/CertificateQuery"
import { certificateStatuses } from "@data-import/domain/certificates/Certificates"
import { InstantText, SumText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"

const count = (description: string) => Schema.Int.annotateKey({ description })
const text = (description: string) => Schema.String.annotate({ description })
const hash = "A SHA-256 in lower-case hexadecimal."

const accountNumber = (which: string) =>
  Schema.NullOr(Schema.String).annotate({
    description: `The number of its ${which} account; null if that was erased.`
  })

export const CertificateRequestBody = Schema.Struct({
  payload: documented("CertificatePayload", "What to certify.", CertificatePayload, {
    import_supplier: "The supplier's code.",
    cohort: "Only the accounts of this cohort; all accounts of the supplier if it is omitted."
  })
}).annotate({ identifier: "CertificateRequest", description: "A certificate to issue." })

const {
  control_totals,
  documents,
  issued_by,
  ledger_balances,
  previous,
  statements,
  transactions
} = Certificate.fields

/** The parts of the sums over accounts. */
export const sumParts = {
  ledger_balances: documented(
    "CertifiedLedger",
    "The ledgers of one code.",
    ledger_balances.value,
    {
      ledger_code: "The ledger's code.",
      ledgers: "How many accounts have such a ledger.",
      balance: "The sum of their balances as imported."
    }
  ),
  transactions: documented(
    "CertifiedTransactions",
    "The transactions of one type and reason, imported and added.",
    transactions.value,
    {
      type: "The type, which tells their direction.",
      reason: "The reason; null for those without one.",
      count: "How many there are.",
      amount: "The sum of their amounts, as they were sent."
    }
  ),
  statements: documented("CertifiedStatements", "All statements.", statements, {
    count: "How many there are.",
    gross_amount: "The sum of the gross amounts of those that were added."
  })
}

const sumWords: { readonly [Name in keyof typeof CertifiedSums.fields]: string } = {
  balance_as_imported: "The sum of the balances as imported.",
  balance_added: "The sum of the transactions that were added later, with their signs.",
  balance: "Both together.",
  ledger_balances: "By ledger, in the order of the codes.",
  transactions: "By type and reason, in their order.",
  statements: "The statements of the accounts."
}

const [expected] = control_totals.members

/** What is expected of a ledger, also in control totals. */
export const ExpectedLedgerBody = Schema.Struct({
  ledger_code: text("The ledger's code."),
  balance: SumText.annotateKey({ description: "The sum of the balances as imported." })
}).annotate({ identifier: "ExpectedLedger", description: "The ledgers of one code." })

export const expectedWords = {
  accounts: "How many accounts.",
  balance: {
    description: "The sum of their balances as imported; null if none is expected.",
    wire: SumText
  },
  ledger_balances: "By ledger; null if none are expected."
}

const IssuerBody = documented(
  "CertificateIssuer",
  "Who asked for it. It names no person.",
  issued_by,
  {
    organisation: "The organisation.",
    role: "`client`, or the role in the board.",
    id: "The id of the API key, or of the user."
  }
)

const states = Schema.Record(Schema.String, Schema.Int)

const CertificateContent = documented(
  "Certificate",
  "What is certified: the payload of the signed record.",
  Certificate,
  {
    certificate_id: "The id of the certificate, a UUID.",
    import_supplier: "The supplier's code.",
    cohort: "The cohort; null for all accounts of the supplier.",
    at: { description: "The instant of what is certified.", wire: InstantText },
    tree_size: "How many accounts are certified.",
    root: "The hash of their tree (RFC 9162, section 2.1.1) with SHA-256, in hexadecimal.",
    states: { description: "How many imports are in each state.", wire: states },
    ...sumWords,
    documents: "The documents that the accounts name.",
    control_totals: "What was expected of these accounts; null if nothing was entered.",
    erased: "How many accounts were erased before. They are not in the tree.",
    reverted: "How many accounts were reverted before. They are not in the tree.",
    hash_recomputed: "Of how many accounts the entry was computed from what is stored.",
    version: "The version of this record.",
    iss: "The deployment that issued it.",
    mode: "Whether the accounts are live or test data.",
    issued_by: "Who asked for it.",
    previous: "The certificate before of the same supplier and cohort; null for the first."
  },
  {
    ...sumParts,
    issued_by: IssuerBody,
    documents: documented("CertifiedDocuments", "Documents, and a tree of them.", documents, {
      count: "How many paths the accounts name.",
      bytes: "The size of the documents in the tree.",
      root: "The hash of the tree of the documents whose SHA-256 the store knows.",
      without_checksum: "How many documents are not in that tree."
    }),
    control_totals: documented(
      "CertifiedExpectation",
      "The control totals at the instant of the certificate.",
      expected,
      { ...expectedWords, matches: "Whether it is exactly what is certified." },
      { ledger_balances: ExpectedLedgerBody }
    ),
    previous: documented("PreviousCertificate", "An earlier certificate.", previous.members[0], {
      certificate_id: "Its id.",
      jws_sha256: `Of its JWS. ${hash}`
    })
  }
)

const CertifiedCounts = Schema.Struct({
  tree_size: count("How many accounts are certified."),
  states: states.annotate({ description: "How many imports are in each state." }),
  erased: count("How many accounts were erased before."),
  reverted: count("How many accounts were reverted before."),
  documents: count("How many documents the accounts name.")
}).annotate({ identifier: "CertifiedCounts", description: "The counts of a certificate." })

export const CertificateRecordBody = Schema.Struct({
  certificate_id: text("The id of the certificate, a UUID."),
  import_supplier: text("The supplier's code."),
  cohort: Schema.NullOr(Schema.String).annotate({
    description: "The cohort; null for all accounts of the supplier."
  }),
  status: Schema.Literals(certificateStatuses).annotate({
    description:
      "RUNNING: it is being computed. ISSUED. FAILED: it could not be computed; issue another one."
  }),
  requested_at: InstantText.annotateKey({ description: "When it was requested." }),
  ended_at: Schema.NullOr(InstantText).annotate({
    description: "When it was issued or failed; null before."
  }),
  issued_by: IssuerBody,
  counts: Schema.NullOr(CertifiedCounts).annotate({
    description: "Its counts; null unless it is issued."
  }),
  certificate: Schema.optionalKey(
    Schema.NullOr(CertificateContent).annotate({
      description:
        "What is certified; null unless it is issued. A key without `account:read` does not get it."
    })
  ),
  jws: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description:
        "The signed record (JWS, compact); null unless it is issued. A key without `account:read` " +
        "does not get it."
    })
  )
}).annotate({ identifier: "CertificateRecord", description: "A certificate and how it stands." })

const EntryBody = Schema.Struct({
  account: text("The hash of what was imported."),
  added: text("The hash of what was added later; empty if nothing was."),
  balance: text("The balance as imported."),
  external_account_number: text("The account number at the supplier."),
  ledgers: Schema.Array(
    Schema.Struct({
      balance: text("The balance of the ledger as imported."),
      ledger_code: text("The ledger's code.")
    }).annotate({ identifier: "EntryLedger", description: "A ledger of the account." })
  ).annotate({ description: "In the order of the codes." })
}).annotate({
  identifier: "CertifiedEntry",
  description: "What is certified of one account. Its leaf is the hash of its canonical JSON."
})

export const ProofBody = Schema.Struct({
  leaf_index: count("The position of the account in the tree, from 0."),
  entry: EntryBody,
  path: Schema.Array(Schema.String).annotate({
    description: "The audit path (RFC 9162, section 2.1.3), in hexadecimal, from leaf to root."
  })
}).annotate({
  identifier: "CertificateProof",
  description: "Proves that an account is among those certified."
})

export const TreeNodeBody = Schema.Struct({
  index: count("The position of the node on its level, from 0."),
  first: accountNumber("first"),
  last: accountNumber("last"),
  count: count("How many accounts are below it."),
  hash: text(hash)
}).annotate({ identifier: "CertificateNode", description: "A node of the tree." })

const keyText = (description: string) => Schema.String.annotate({ description })

export const CertificateKeysBody = Schema.Struct({
  keys: Schema.Array(
    Schema.Struct({
      kty: keyText("The family of the key: OKP."),
      crv: keyText("The curve: Ed25519."),
      x: keyText("The public key, base64url."),
      kid: keyText("The thumbprint of the key (RFC 7638), as in the header of a certificate."),
      alg: keyText("The algorithm: EdDSA."),
      use: keyText("What it is for: sig.")
    })
  ).annotate({ description: "Every key that certificates were ever signed with." })
}).annotate({ identifier: "CertificateKeys", description: "A JSON Web Key Set (RFC 7517)." })
