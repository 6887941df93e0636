/** How a certificate of many accounts is computed: page by page, in whole blocks. */
import { expect, it } from "@effect/vitest"
import { type DateTime, Effect, Stream } from "effect"
import { AccountNumber, ExternalAccountNumber } from "../src/accounts/Account.ts"
import { entryHash, entryWith } from "../src/certificates/AccountEntry.ts"
import { issueNext } from "../src/certificates/CertificateIssuing.ts"
import {
  type Block,
  blockSize,
  CertificateId,
  type CertificateRecord,
  type Certificates,
  type CertifiedAccount,
  type Signed,
  type Snapshot
} from "../src/certificates/Certificates.ts"
import { PayloadHash } from "../src/imports/ImportProcess.ts"
import { treeHash } from "../src/merkle/InclusionProof.ts"
import { noCounts } from "../src/migrations/Migrations.ts"
import { Hashing } from "../src/requests/Hashing.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { hexOf } from "../src/support/Hexadecimal.ts"
import { noon } from "../testing/freshNames.ts"
import { layerMemory } from "../testing/memory/Hashing.ts"

const sums = {
  imported: "1",
  added: "0",
  ledgers: [],
  transactions: [],
  statements: [0, "0"]
} as const

const accountOf = (index: number): CertifiedAccount => ({
  number: ExternalAccountNumber.make(`A-${String(index).padStart(5, "0")}`),
  account: AccountNumber.make(`A-${index.toString(16).toUpperCase().padStart(8, "0")}`),
  payloadHash: PayloadHash.make("0".repeat(64)),
  entry: { members: `"external_account_number":"${index}"`, sums }
})

const record: CertificateRecord = {
  id: CertificateId.make("0b5a4f6e-3c1d-4e0a-9f53-6a1f0c2d7e88"),
  supplier: SupplierCode.make("S"),
  cohort: null,
  status: "RUNNING",
  requestedAt: noon,
  endedAt: null,
  issuedBy: { organisation: "o", role: "client", id: "k" },
  progress: null,
  failure: null,
  issued: null
}

/** Accounts of one, two and three pages, full or not. */
const sizes = [0, 1, 2_047, 2_048, 2_049, 4_096, 5_000]

it.effect.each(sizes)("a certificate of %i accounts has all of them, in blocks", (size) =>
  Effect.gen(function* () {
    const hashing = yield* Hashing
    const all = Array.from({ length: size }, (_, index) => accountOf(index))
    const kept: Array<Block> = []
    const snapshot: Snapshot = {
      states: { ...noCounts, IMPORTED: size },
      reverted: 0,
      expected: null,
      previous: null,
      accounts: ({ after, limit }) => {
        const start = after === null ? 0 : all.findIndex(({ number }) => number === after) + 1
        return Effect.succeed(all.slice(start, start + limit))
      },
      read: () => Stream.empty,
      nextDocuments: () => Effect.succeed([]),
      keep: (block) => Effect.sync(() => void kept.push(block))
    }
    const issued: Array<Signed> = []
    const certificates = {
      take: () => Effect.succeedSome(record),
      addKeys: () => Effect.void,
      report: () => Effect.void,
      certify: (
        _id: CertificateId,
        _at: DateTime.Utc,
        work: (of: Snapshot) => Effect.Effect<Signed>
      ) => Effect.map(work(snapshot), (signed) => void issued.push(signed))
    } as unknown as Certificates["Service"]
    const signer = { issuer: "test", sign: () => Effect.succeed("jws"), keys: Effect.succeed([]) }
    expect(yield* issueNext({ certificates, hashing, signer })).toBe(true)

    const leaves = all.map(({ entry, payloadHash }) =>
      entryHash(hashing, entryWith(payloadHash, entry?.members ?? ""))
    )
    expect(issued[0]?.content).toMatchObject({
      tree_size: size,
      root: hexOf(treeHash(hashing.digest, leaves))
    })
    expect(kept.flatMap((block) => block.leaves.map(({ hash }) => hash))).toEqual(leaves)
    expect(kept.map(({ index }) => index)).toEqual(kept.map((_, place) => place))
    expect(kept.slice(0, -1).every((block) => block.leaves.length === blockSize)).toBe(true)
  }).pipe(Effect.provide(layerMemory))
)
