/** Certificates in PostgreSQL: issued of one snapshot, and proved by their trees. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Layer, Option } from "effect"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { entryHash } from "@data-import/domain/certificates/AccountEntry"
import type { Certificate } from "@data-import/domain/certificates/Certificate"
import { completeEntries, issueNext } from "@data-import/domain/certificates/CertificateIssuing"
import {
  type CertificateId,
  certificateLimits,
  Certificates
} from "@data-import/domain/certificates/Certificates"
import { CertificateSigner } from "@data-import/domain/certificates/CertificateSigner"
import { nodesOf, proofOf } from "@data-import/domain/certificates/CertificateTrees"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { certificateEvent } from "@data-import/domain/events/Event"
import { EventLog } from "@data-import/domain/events/EventLog"
import { isIncluded, treeHash } from "@data-import/domain/merkle/InclusionProof"
import {
  ControlTotals,
  type ExpectedTotals,
  totalsBody
} from "@data-import/domain/migrations/ControlTotals"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import {
  adding,
  changeAccount,
  creditOf,
  mayStatement
} from "@data-import/domain/testing/importedAccounts"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { bytesOf, hexOf } from "@data-import/domain/support/Hexadecimal"
import { Database } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const signer = Layer.succeed(CertificateSigner, {
  issuer: "test",
  sign: ({ certificate_id, root }) => Effect.succeed(`${certificate_id} ${root}`),
  keys: Effect.succeed([{ kid: "k", x: "x" }])
})

const storage = Layer.mergeAll(TestDatabase.layerAllPorts, hashing, signer)

const ports = Effect.gen(function* () {
  const certificates = yield* Certificates
  return { certificates, hashing: yield* Hashing, signer: yield* CertificateSigner }
})

type Owner = Effect.Success<typeof freshSupplier>

const request = Effect.fnUntraced(function* ({ caller, supplier }: Owner, cohort: string | null) {
  const { certificates } = yield* ports
  const { organisation } = caller
  return yield* certificates.request({
    id: crypto.randomUUID() as CertificateId,
    supplier: supplier.code,
    cohort,
    issuer: { organisation, role: "client", id: caller.apiKey },
    caller,
    at: noon,
    recorder: null
  })
})

/** A certificate of all accounts of the supplier. */
const issued = Effect.fnUntraced(function* (owner: Owner, cohort: string | null = null) {
  const { certificates } = yield* ports
  const { id } = yield* request(owner, cohort)
  while (yield* issueNext(yield* ports)) continue
  const found = yield* certificates.find(owner.supplier.organisation, id)
  const record = Option.getOrThrow(found)
  if (record.issued === null) throw new Error(`The certificate is ${record.status}`)
  return { id, content: record.issued.content }
})

/** Everything the tree has, level 0 first. */
const leavesOf = Effect.fnUntraced(function* (id: CertificateId, size: number) {
  const nodes = yield* nodesOf(yield* ports, id, size, { level: 0, from: 0, limit: 1_000 })
  return nodes.map(({ hash }) => bytesOf(hash))
})

const alter = Effect.fnUntraced(function* (statement: string) {
  const { run, sql } = yield* Database
  yield* run(sql.unsafe(statement))
})

/** The events of certificates. */
const eventsOf = Effect.fnUntraced(function* ({ supplier }: Owner) {
  const log = yield* EventLog
  yield* log.assignPositions(10_000)
  const page = yield* log.read({
    organisation: supplier.organisation,
    after: null,
    limit: 100,
    supplier: supplier.code,
    name: certificateEvent
  })
  if (page._tag !== "Page") throw new Error(page._tag)
  return page
})

const payload = domesticPayload()

const one = BigDecimal.fromBigInt(1n)

layer(storage, { excludeTestServices: true })("certificates", (it) => {
  it.effect("state what was expected then, and whether it is what they certify", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* importedFrom(payload, owner)
      const sums = (yield* issued(owner)).content
      expect(sums.control_totals).toBe(null)
      const ledger_balances = sums.ledger_balances.map(({ balance, ledger_code }) => ({
        ledger_code,
        balance: BigDecimal.fromStringUnsafe(balance)
      }))
      const balance = BigDecimal.fromStringUnsafe(sums.balance_as_imported)
      const right = { accounts: 1, balance, ledger_balances }
      const other = ledger_balances.map((ledger) => ({
        ...ledger,
        balance: BigDecimal.sum(balance, one)
      }))
      const expectations: ReadonlyArray<readonly [ExpectedTotals, boolean]> = [
        [right, true],
        [{ accounts: 1 }, true],
        [{ ...right, accounts: 2 }, false],
        [{ ...right, balance: BigDecimal.sum(balance, one) }, false],
        [{ ...right, ledger_balances: other }, false],
        [{ ...right, ledger_balances: [] }, false]
      ]
      const { set } = yield* ControlTotals
      const { caller, supplier } = owner
      const command = { supplier: supplier.code, cohort: null, caller, at: noon }
      for (const [totals, matches] of expectations) {
        yield* set({ ...command, totals })
        const { content } = yield* issued(owner)
        expect(content.control_totals).toEqual({ ...totalsBody(totals), matches })
      }
    })
  )

  it.effect("have the root of what is stored, whether entries were kept or read back", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      expect((yield* issued(owner)).content).toMatchObject({
        tree_size: 0,
        root: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        previous: null
      })
      const accounts = yield* Effect.forEach([1, 2, 3], () => importedFrom(payload, owner))
      const kept = yield* issued(owner)
      expect(kept.content).toMatchObject({ tree_size: 3, hash_recomputed: 0 })
      yield* alter(`update accounts set entry = entry where entry is not null`)
      yield* alter(`update note_documents set document_size = 3000000000`)
      const read = yield* issued(owner)
      expect(read.content).toMatchObject({ root: kept.content.root, hash_recomputed: 3 })
      expect(read.content.balance).toBe(kept.content.balance)
      expect(read.content.previous?.certificate_id).toBe(kept.id)
      const [account] = accounts
      if (account === undefined) throw new Error("There is no account")
      yield* changeAccount(account, adding(creditOf("C-1")))
      yield* changeAccount(account, () => ({ statements: [mayStatement("S-1")] }))
      const added = yield* issued(owner)
      expect(added.content).toMatchObject({ balance_added: "10.00", statements: { count: 7 } })
      expect(added.content.root).not.toBe(kept.content.root)
      const { describe } = yield* Accounts
      yield* completeEntries(yield* ports, describe)
      const { events } = yield* eventsOf(owner)
      expect(events.map(({ certificate }) => certificate)).toContain(added.id)
      expect((yield* issued(owner)).content).toMatchObject({
        root: added.content.root,
        hash_recomputed: 0
      })
    })
  )

  const changes: ReadonlyArray<readonly [string, string, keyof Certificate | null]> = [
    ["the amount of a transaction", "transactions set amount = amount + 0.01", "transactions"],
    ["the balance", "accounts set balance = balance + 0.01", "balance_as_imported"],
    ["a ledger", "ledgers set last_statement_balance = 7, ledger_balance = 7", "ledger_balances"],
    ["a note", "notes set body = 'x'", null],
    [
      "a name",
      `accounts set payload =
        replace(payload::text, '"family_name":"', '"family_name":"x')::json`,
      null
    ]
  ]
  it.effect.each(changes)("show %s when it was changed by hand", ([, change, figure]) =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { number } = yield* importedFrom(payload, owner)
      const before = (yield* issued(owner)).content
      const column = change.startsWith("accounts") ? "id" : "account_id"
      const first = /^(notes|transactions)/.test(change) ? "and sequence = 0" : ""
      const account = `select id from accounts where number = '${number}'`
      yield* alter(`update ${change} where ${column} in (${account}) ${first}`)
      const { describe } = yield* Accounts
      yield* completeEntries(yield* ports, describe)
      const after = (yield* issued(owner)).content
      expect(after).toMatchObject({ tree_size: 1, hash_recomputed: 0 })
      expect(after.root).not.toBe(before.root)
      if (figure !== null) expect(after[figure]).not.toStrictEqual(before[figure])
    })
  )

  it.effect("prove each account, in trees of several blocks, and keep their trees", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const made = yield* Effect.forEach(
        Array.from({ length: 259 }),
        () => importedFrom({ unknown_occupier: true }, owner),
        { concurrency: 5 }
      )
      const { content, id } = yield* issued(owner)
      const { tree_size: size } = content
      const deps = yield* ports
      const leaves = yield* leavesOf(id, size)
      expect(hexOf(treeHash(deps.hashing.digest, leaves))).toBe(content.root)
      const [blocks] = yield* nodesOf(deps, id, size, { level: 9, from: 0, limit: 5 })
      expect(blocks).toMatchObject({ index: 0, count: 259, hash: content.root })
      const numbers = made.map(({ key }) => key.external_account_number).toSorted()
      expect([blocks?.first, blocks?.last]).toEqual([numbers.at(0), numbers.at(-1)])
      for (const number of [numbers.at(0), numbers.at(255), numbers.at(256), numbers.at(-1)]) {
        if (number === undefined) throw new Error("There is no number")
        const { entry, leaf_index, path } = yield* proofOf(deps, id, size, number)
        const proof = {
          leaf: entryHash(deps.hashing, entry),
          index: leaf_index,
          size,
          path: path.map(bytesOf)
        }
        expect(isIncluded(deps.hashing.digest, proof, bytesOf(content.root))).toBe(true)
      }
      const [erased] = made
      if (erased === undefined) throw new Error("There is no account")
      yield* (yield* Erasures).erase({ key: erased.key, at: noonPlus(300) })
      expect(yield* leavesOf(id, size)).toStrictEqual(leaves)
      const gone = yield* Effect.flip(proofOf(deps, id, size, erased.key.external_account_number))
      expect(gone._tag).toBe("NotFound")
      expect((yield* issued(owner)).content).toMatchObject({ tree_size: 258, erased: 1 })
    })
  )

  it.effect("keep nothing of a customer who is erased while they are computed", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { key } = yield* importedFrom(payload, owner)
      const deps = yield* ports
      const { id } = yield* request(owner, null)
      const outside = yield* Effect.context<Erasures>()
      const erase = Effect.flatMap(Erasures, (port) => port.erase({ key, at: noonPlus(300) }))
      let isErased = false
      const signer = {
        ...deps.signer,
        // Not in the transaction of the certificate.
        sign: () =>
          Effect.promise(async () => {
            if (!isErased) await Effect.runPromiseWith(outside)(erase)
            isErased = true
            return "signed"
          })
      }
      const first = yield* Effect.flip(issueNext({ ...deps, signer }))
      expect(first._tag).toBe("StorageUnavailable")
      expect(yield* issueNext({ ...deps, signer })).toBe(true)
      const found = yield* deps.certificates.find(owner.supplier.organisation, id)
      expect(Option.getOrThrow(found).issued?.content).toMatchObject({ tree_size: 0, erased: 1 })
      const kept = yield* rows(
        (sql) => sql`
        select entry from certificate_entries where supplier = ${owner.supplier.code}`
      )
      expect(kept).toEqual([])
    })
  )

  it.effect("say how far they are, and which step has failed", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const deps = yield* ports
      const { id } = yield* request(owner, null)
      const found = Effect.map(
        deps.certificates.find(owner.supplier.organisation, id),
        Option.getOrThrow
      )
      expect((yield* found).progress).toBe(null)
      for (const done of [1, 2]) yield* deps.certificates.report(id, { done, total: 3 })
      expect((yield* found).progress).toEqual({ done: 2, total: 3 })
      const signer = { ...deps.signer, sign: () => Effect.die(new Error("no key")) }
      yield* Effect.exit(issueNext({ ...deps, signer }))
      expect(yield* found).toMatchObject({
        status: "FAILED",
        failure: "SIGNATURE",
        progress: null
      })
    })
  )

  it.effect("stay with the process that reports them, also beyond its lease", () =>
    Effect.gen(function* () {
      const { id } = yield* request(yield* freshSupplier, null)
      const { fail, report, take } = (yield* ports).certificates
      const until = noonPlus(120)
      expect((yield* take({ at: noon, until })).pipe(Option.map((taken) => taken.id))).toEqual(
        Option.some(id)
      )
      yield* report(id, { done: 1, total: 2 })
      expect(yield* take({ at: until, until })).toEqual(Option.none())
      yield* fail(id, until, "ACCOUNTS")
    })
  )

  it.effect("are refused beyond the number that may run, and that of a day", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { ofSupplierInDay, running } = certificateLimits
      const many = (count: number) =>
        Effect.forEach(Array.from({ length: count }), () => request(owner, null), {
          concurrency: "unbounded"
        })
      yield* many(running)
      expect(yield* Effect.flip(request(owner, null))).toMatchObject({ retryAfterSeconds: 15 })
      const { code, organisation } = owner.supplier
      yield* alter(`update certificates set status = 'FAILED', failure = 'ACCOUNTS',
        ended_at = requested_at where supplier = '${code}'`)
      yield* alter(`insert into certificates (id, organisation, supplier, issued_by, requested_at,
          status, failure)
        select gen_random_uuid(), '${organisation}', '${code}', '{}',
          timestamptz '${DateTime.formatIso(noon)}' - interval '1 hour', 'FAILED', 'ACCOUNTS'
        from generate_series(1, ${ofSupplierInDay - running})`)
      const refused = yield* Effect.flip(request(owner, null))
      expect(refused).toMatchObject({ _tag: "CertificateLimitExceeded", retryAfterSeconds: 86_400 })
    })
  )

  it.effect("are issued in turn over organisations", () =>
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all([freshSupplier, freshSupplier])
      const deps = yield* ports
      const many = yield* Effect.forEach(["a", "b", "c"], (cohort) => request(one, cohort))
      const alone = yield* request(other, null)
      const order: Array<string> = []
      const signer = {
        ...deps.signer,
        sign: ({ certificate_id }: { readonly certificate_id: string }) =>
          Effect.sync(() => {
            order.push(certificate_id)
            return "signed"
          })
      }
      while (yield* issueNext({ ...deps, signer })) continue
      expect(order).toEqual([many[0]?.id, alone.id, many[1]?.id, many[2]?.id])
    })
  )

  it.effect("of the same supplier follow one another, and cohorts have their own", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { certificates, ...rest } = yield* ports
      const [first, second, other] = yield* Effect.all([
        request(owner, null),
        request(owner, null),
        request(owner, "wave-1")
      ])
      const at = noonPlus(1)
      const until = DateTime.addDuration(at, "1 minute")
      const taken = [
        yield* certificates.take({ at, until }),
        yield* certificates.take({ at, until }),
        yield* certificates.take({ at, until })
      ]
      expect(taken.map(Option.map(({ id }) => id))).toEqual([
        Option.some(first.id),
        Option.some(other.id),
        Option.none()
      ])
      const later = DateTime.addDuration(until, "1 second")
      expect(Option.isSome(yield* certificates.take({ at: later, until: later }))).toBe(true)
      while (yield* issueNext({ certificates, ...rest })) continue
      const listed = yield* certificates.list({
        supplier: owner.supplier.code,
        before: null,
        limit: 10
      })
      expect(
        listed.map(({ id, issued }) => [id, issued?.content.previous?.certificate_id])
      ).toStrictEqual([
        [other.id, undefined],
        [second.id, first.id],
        [first.id, undefined]
      ])
      expect(yield* certificates.keys).toEqual([{ kid: "k", x: "x" }])
    })
  )
})
