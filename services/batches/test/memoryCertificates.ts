/** Certificates in memory, of one small tree: what the handlers need of the storage. */
import { createHash } from "node:crypto"
import { DateTime, Effect, Layer, Option } from "effect"
import { issuedCertificate } from "@data-import/api/CertificateExamples"
import { entryHash } from "@data-import/domain/certificates/AccountEntry"
import type { Certificate } from "@data-import/domain/certificates/Certificate"
import { type CertificateRecord, Certificates } from "@data-import/domain/certificates/Certificates"
import { treeHash } from "@data-import/domain/merkle/InclusionProof"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory } from "@data-import/domain/testing/memory/Hashing"
import { keepAnswer } from "@data-import/domain/testing/memory/IdempotencyKeys"
import { MemoryStore } from "@data-import/domain/testing/memory/Store"

const numbers = ["A-1", "A-2", "A-3"]

const entryOf = (number: string): string =>
  JSON.stringify({
    account: createHash("sha256").update(number).digest("hex"),
    added: "",
    balance: "1.00",
    external_account_number: number,
    ledgers: []
  })

/** Set by a test: whether certificates are issued as soon as they are requested. */
export const issuing = { atOnce: true }

const ended = (record: CertificateRecord): CertificateRecord => ({
  ...record,
  status: "ISSUED",
  endedAt: record.requestedAt,
  issued: {
    content: { ...(issuedCertificate.certificate as Certificate), certificate_id: record.id },
    jws: issuedCertificate.jws
  }
})

const make = Effect.gen(function* () {
  const store = yield* MemoryStore
  const hashing = yield* Hashing
  const records: Array<CertificateRecord> = []
  const leaves = numbers.map((number) => entryHash(hashing, entryOf(number)))
  const unused = () => Effect.die(new Error("No handler needs it"))
  const shown = (record: CertificateRecord) => (issuing.atOnce ? ended(record) : record)
  return Certificates.of({
    request: ({ at, cohort, id, issuer, recorder, supplier }) =>
      Effect.sync(() => {
        const record: CertificateRecord = {
          id,
          supplier,
          cohort,
          status: "RUNNING",
          requestedAt: DateTime.addDuration(at, records.length),
          endedAt: null,
          issuedBy: issuer,
          progress: null,
          failure: null,
          issued: null
        }
        records.unshift(record)
        keepAnswer(store, recorder, record, at)
        return record
      }),
    find: (organisation, id) =>
      Effect.sync(() => {
        const found = records.find(
          (each) => each.id === id && each.issuedBy.organisation === organisation
        )
        return Option.map(Option.fromNullishOr(found), shown)
      }),
    list: ({ before, limit, supplier }) =>
      Effect.sync(() => {
        const own = records.filter((each) => each.supplier === supplier)
        const start = before === null ? 0 : own.findIndex(({ id }) => id === before) + 1
        return own.slice(start, start + limit).map(shown)
      }),
    bounds: () =>
      Effect.succeed([{ hash: treeHash(hashing.digest, leaves), first: "A-1", last: "A-3" }]),
    blocks: () => Effect.succeed([{ leaves, numbers: ["A-1", null, "A-3"] }]),
    entriesOf: (_, number) =>
      Effect.succeed(
        numbers.includes(number)
          ? Option.some({ block: 0, entries: [entryOf(number)] })
          : Option.none()
      ),
    keys: Effect.succeed([{ kid: "k", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }]),
    newestIssued: unused,
    take: unused,
    certify: unused,
    report: unused,
    fail: unused,
    withoutEntry: unused,
    storeEntry: unused,
    addKeys: unused
  })
})

export const memoryCertificates = Layer.effect(Certificates, make).pipe(
  Layer.provide([MemoryStore.layer, layerMemory])
)
