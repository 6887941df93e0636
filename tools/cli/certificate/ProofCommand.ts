/** `data-import certificate proof`: proves that an account is among the certified ones. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Answer, type CallError, DataImport } from "@data-import/client/effect"
import { entryHash } from "@data-import/domain/certificates/AccountEntry"
import { isIncluded } from "@data-import/domain/merkle/InclusionProof"
import { isObject } from "@data-import/domain/schema/Json"
import { bytesOf } from "@data-import/domain/support/Hexadecimal"
import { line, plain, printable, say } from "@data-import/terminal/Answer"
import { asCertificateId } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import {
  readKeys,
  type SignedCertificate,
  verifyCertificate
} from "../certify/SignedCertificate.ts"
import { onService } from "../connection/Connection.ts"
import { jsonValue } from "../reconcile/ReconcileAnswer.ts"
import { accountsOf } from "./CertificateText.ts"
import { hashing } from "../certify/NodeHashing.ts"
import { number } from "../ImportArguments.ts"

type Proof = Answer<"certificates", "getCertificateProof">

/** Canonical JSON of an entry, whose values are all text. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).toSorted()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/** Whether the proof leads from this account to the root that was signed. */
const isProved = (
  { entry, leaf_index, path }: Proof,
  number: string,
  { certificate: { root, tree_size } }: Pick<SignedCertificate, "certificate">
): boolean => {
  const leaf = entryHash(hashing, canonical(entry))
  const inclusion = { leaf, index: leaf_index, size: tree_size, path: path.map(bytesOf) }
  return (
    entry.external_account_number === number && isIncluded(hashing.digest, inclusion, bytesOf(root))
  )
}

/** Says what is unknown, where the service only answers that it has not found something. */
const orUnknown =
  (why: string) =>
  <A, E extends CallError, R>(self: Effect.Effect<A, E, R>) =>
    Effect.mapError(self, (error) => (error.code === "not_found" ? new Refused({ why }) : error))

const inNoLeaf = (id: string, number: string): string =>
  `The service has no leaf for ${printable(number)} in ${id}: it is not certified there, or was ` +
  "erased since. That proves no absence: a certificate proves only what is in it."

/** The certificate, verified with the keys of a file, or with those that the service publishes. */
const verified = Effect.fnUntraced(function* (id: string, file: Option.Option<string>) {
  const { certificates } = yield* DataImport
  const { jws, status } = yield* certificates
    .getCertificate({ params: { certificate_id: id } })
    .pipe(orUnknown(`The service has no certificate ${id}, or it is of another organisation.`))
  if (typeof jws !== "string") return yield* new Refused({ why: `The certificate is ${status}.` })
  const keys = Option.isSome(file)
    ? yield* readKeys(file.value)
    : (yield* certificates.getCertificateKeys()).keys
  return yield* verifyCertificate(`What the service answers for ${id}`, jws, keys)
})

const proofText = (number: string, { entry, path }: Proof, signed: SignedCertificate): string => {
  const { certificate, kid } = signed
  const nodes = path.length === 1 ? "1 hash" : `${path.length} hashes`
  return [
    `Proved: ${plain(number)} is one of the ${accountsOf(certificate)} in the certificate ` +
      `${certificate.certificate_id} of ${certificate.at}. Its entry and ${nodes} give the signed ` +
      `root, and the signature is of the key ${kid}.`,
    line("account", entry.account),
    line("balance as imported", entry.balance),
    ...entry.ledgers.map(({ balance, ledger_code }) =>
      line(`ledger ${plain(ledger_code)}`, balance)
    ),
    line("added", entry.added === "" ? "nothing" : entry.added)
  ].join("\n")
}

export const proof = Command.make(
  "proof",
  {
    id: Argument.String("certificate-id").pipe(
      Argument.withDescription("The id of the certificate"),
      asCertificateId
    ),
    number,
    keys: Flag.String("keys").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Keys (JWKS) that you have kept; those that are published unless given"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ id, keys, number }) {
    const { certificates } = yield* DataImport
    const signed = yield* verified(id, keys)
    const params = { certificate_id: id, external_account_number: number }
    const found = yield* certificates
      .getCertificateProof({ params })
      .pipe(orUnknown(inNoLeaf(id, number)))
    if (!isProved(found, number, signed)) {
      const why = `The answer of the service does not prove that ${number} is in ${id}.`
      return yield* new Refused({ why })
    }
    const { root, tree_size } = signed.certificate
    yield* say(
      jsonValue({ certificate_id: id, kid: signed.kid, root, tree_size, ...found, included: true }),
      proofText(number, found, signed)
    )
  }, onService)
).pipe(
  Command.withDescription(
    "Prove that an account is among the certified ones: verify the signature, and that the entry " +
      "of the account leads to the signed root. Needs import:read and account:read."
  ),
  Command.withExamples([
    {
      command: "data-import certificate proof 0b5a4f6e-3c1d-4e0a-9f53-6a1f0c2d7e88 AL-0001",
      description: "Prove one account"
    }
  ])
)
