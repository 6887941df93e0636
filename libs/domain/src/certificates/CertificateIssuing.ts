/**
 * Issues the certificates that were requested: reads the accounts in one snapshot, computes the
 * tree and the sums, and signs. Any number of processes may run it.
 * Source: docs/contract/certificates.md#issuing.
 */
import { DateTime, Duration, Effect, Option, Schedule, Stream } from "effect"
import { leafHashOfText, makeGrowingTree } from "../merkle/MerkleTree.ts"
import {
  certifiedTotals,
  differenceOf,
  type ExpectedTotals,
  moneyDifferences,
  totalsBody
} from "../migrations/ControlTotals.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { formatInstant } from "../schema/Field.ts"
import { modeOfSupplier, wireCode } from "../suppliers/Supplier.ts"
import { every } from "../support/Every.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import { entryHash, entryWith } from "./AccountEntry.ts"
import type { Certificate } from "./Certificate.ts"
import {
  type Block,
  blockSize,
  type CertificateId,
  type CertificateRecord,
  type Certificates,
  type CertificateStep,
  type CertifiedAccount,
  type Snapshot
} from "./Certificates.ts"
import type { CertificateSigner } from "./CertificateSigner.ts"
import { SumsBuilder } from "./CertifiedSums.ts"
import { readEntry } from "./ReadEntry.ts"

/** How far a certificate is, for who waits for it. */
interface Course {
  step: CertificateStep
  done: number
  total: number
}

interface Ports {
  readonly certificates: Certificates["Service"]
  readonly hashing: Hashing["Service"]
  readonly signer: CertificateSigner["Service"]
}

/** Accounts, and documents, of one statement. */
const atOnce = 2_048

/** The entries of a page, with those that were missing. */
const completed = Effect.fnUntraced(function* (
  { hashing }: Ports,
  snapshot: Snapshot,
  page: ReadonlyArray<CertifiedAccount>
) {
  const missing = page.filter(({ entry }) => entry === null)
  const read = yield* snapshot.read(missing.map(({ account }) => account)).pipe(
    Stream.mapEffect((stored) =>
      Effect.map(readEntry(hashing, stored), (entry) => [stored.number, entry] as const)
    ),
    Stream.runCollect
  )
  const computed = new Map(read)
  const entries = yield* Effect.forEach(page, ({ account, entry, number, payloadHash }) => {
    const found = entry === null ? computed.get(account) : { hash: payloadHash, entry }
    if (!found) return Effect.die(new Error("An account of the snapshot is missing"))
    const { members, sums } = found.entry
    return Effect.succeed({ number, text: entryWith(found.hash, members), sums })
  })
  return { entries, recomputed: missing.length }
})

/** The tree and the sums of all accounts of the snapshot, whose blocks it keeps. */
const certifiedAccounts = Effect.fnUntraced(function* (
  ports: Ports,
  snapshot: Snapshot,
  course: Course
) {
  const { hashing } = ports
  const tree = makeGrowingTree(hashing.digest)
  const sums = new SumsBuilder()
  let recomputed = 0
  let after: Parameters<Snapshot["accounts"]>[0]["after"] = null
  for (let index = 0; ;) {
    const page: ReadonlyArray<CertifiedAccount> = yield* snapshot.accounts({ after, limit: atOnce })
    const done = yield* completed(ports, snapshot, page)
    recomputed += done.recomputed
    const leaves: Array<Block["leaves"][number]> = []
    for (const { number, sums: own, text } of done.entries) {
      const hash = entryHash(hashing, text)
      tree.append(hash)
      sums.add(own)
      leaves.push({ number, hash, entry: text })
    }
    for (let start = 0; start < leaves.length; start += blockSize) {
      yield* snapshot.keep({ index, leaves: leaves.slice(start, start + blockSize) })
      index += 1
    }
    course.done = tree.size()
    const last = page.at(-1)
    if (last === undefined || page.length < atOnce) break
    after = last.number
  }
  return { tree_size: tree.size(), root: hexOf(tree.root()), ...sums.sums(), recomputed }
})

/** The second tree: of the documents whose content the store knows. */
const certifiedDocuments = Effect.fnUntraced(function* ({ hashing }: Ports, snapshot: Snapshot) {
  const tree = makeGrowingTree(hashing.digest)
  let [count, bytes] = [0, 0]
  for (;;) {
    const page = yield* snapshot.nextDocuments(atOnce)
    for (const { content, document_path } of page) {
      if (content === null) continue
      const { sha256, size } = content
      const path = JSON.stringify(document_path)
      const text = `{"document_path":${path},"sha256":"${sha256}","size":${size}}`
      tree.append(leafHashOfText(hashing.digest, text))
      bytes += size
    }
    count += page.length
    if (page.length < atOnce) break
  }
  return { count, bytes, root: hexOf(tree.root()), without_checksum: count - tree.size() }
})

const expectationOf = (
  expected: ExpectedTotals,
  accounts: Parameters<typeof certifiedTotals>[0]
): Certificate["control_totals"] => {
  const difference = differenceOf(expected, certifiedTotals(accounts))
  const matches = difference.accounts === 0 && moneyDifferences(difference) === 0
  return { ...totalsBody(expected), matches }
}

const certified = Effect.fnUntraced(function* (
  ports: Ports,
  { cohort, id, issuedBy, supplier }: CertificateRecord,
  at: DateTime.Utc,
  snapshot: Snapshot,
  course: Course
) {
  const { hashing, signer } = ports
  const { expected, previous, states } = snapshot
  Object.assign(course, { step: "ACCOUNTS", done: 0, total: states.IMPORTED } satisfies Course)
  const { recomputed, ...accounts } = yield* certifiedAccounts(ports, snapshot, course)
  course.step = "DOCUMENTS"
  const documents = yield* certifiedDocuments(ports, snapshot)
  course.step = "SIGNATURE"
  const content: Certificate = {
    certificate_id: id,
    import_supplier: wireCode(supplier),
    cohort,
    at: formatInstant(at),
    ...accounts,
    states,
    documents,
    control_totals: expected && expectationOf(expected, accounts),
    erased: states.ERASED,
    reverted: snapshot.reverted,
    hash_recomputed: recomputed,
    version: 1,
    iss: signer.issuer,
    mode: modeOfSupplier(supplier),
    issued_by: issuedBy,
    previous: previous && {
      certificate_id: previous.id,
      jws_sha256: hashing.sha256(previous.jws)
    }
  }
  return { content, jws: yield* signer.sign(content) }
})

/** A process keeps a certificate longer for as long as it reports how far it is. */
const lease = Duration.minutes(2)

const reporting = (
  certificates: Certificates["Service"],
  id: CertificateId,
  course: Course
): Effect.Effect<never> =>
  every(
    Duration.seconds(1),
    "the progress of a certificate could not be stored",
    Effect.suspend(() => {
      const { done, total } = course
      return total === 0 ? Effect.void : certificates.report(id, { done, total })
    })
  )

/** Issues one certificate. False if there is none to issue. */
export const issueNext = Effect.fnUntraced(function* (ports: Ports) {
  const { certificates, signer } = ports
  const at = yield* DateTime.now
  const taken = yield* certificates.take({ at, until: DateTime.addDuration(at, lease) })
  if (Option.isNone(taken)) return false
  const record = taken.value
  yield* certificates.addKeys(yield* signer.keys, at)
  const { id } = record
  const course: Course = { step: "ACCOUNTS", done: 0, total: 0 }
  yield* Effect.forkScoped(reporting(certificates, id, course))
  yield* certificates
    .certify(id, at, (snapshot) => certified(ports, record, at, snapshot, course))
    .pipe(
      Effect.tapDefect((defect) =>
        Effect.andThen(
          Effect.logError("a certificate could not be computed", defect),
          certificates.fail(id, at, course.step)
        )
      ),
      Effect.annotateLogs({ certificate: id })
    )
  return true
}, Effect.scoped)

/** How many entries a turn of a second computes. */
const entriesAtOnce = 200

/** Computes entries that are missing, so that a certificate finds them. */
export const completeEntries = Effect.fnUntraced(function* (
  { certificates, hashing }: Ports,
  read: Snapshot["read"]
) {
  const missing = yield* certificates.withoutEntry(entriesAtOnce)
  const complete = Effect.fnUntraced(function* ({ account, revision }: (typeof missing)[number]) {
    const stored = yield* Stream.runHead(read([account]))
    if (Option.isNone(stored)) return
    const found = yield* readEntry(hashing, stored.value)
    if (found !== null) yield* certificates.storeEntry(account, revision, found)
  })
  // One that cannot be read holds up no other. The scheduled checks report it.
  yield* Effect.forEach(
    missing,
    (each) =>
      Effect.catchDefect(complete(each), (defect) =>
        Effect.logWarning("the entry of an account could not be computed", defect)
      ),
    { discard: true }
  )
})

/** Publishes the keys, so that certificates may be requested. */
const publish = ({ certificates, signer }: Ports) =>
  Effect.gen(function* () {
    yield* certificates.addKeys(yield* signer.keys, yield* DateTime.now)
  })

/** Issues, and completes entries, until it is interrupted. */
export const issuing = (ports: Ports, read: Snapshot["read"]): Effect.Effect<never> =>
  Effect.all(
    [
      every(
        Duration.minutes(1),
        "the publishing of the keys of certificates met an error",
        Effect.retry(publish(ports), Schedule.spaced(Duration.seconds(1)))
      ),
      every(
        Duration.seconds(1),
        "the issuing of certificates met an error",
        Effect.repeat(issueNext(ports), { while: (isMore) => isMore })
      ),
      every(
        Duration.seconds(1),
        "the completion of entries met an error",
        completeEntries(ports, read)
      )
    ],
    { concurrency: "unbounded" }
  ).pipe(Effect.andThen(Effect.never))
