/** The commands about certificates, against a service that answers as this test says. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { accountTextInSteps, openingBalance } from "@data-import/domain/accounts/Account"
import { twoDecimals } from "@data-import/domain/schema/Decimal"
import { finish } from "@data-import/domain/support/Steps"
import { storedAccount } from "@data-import/api/AccountExamples"
import { exampleImport } from "@data-import/api/ImportBody"
import { inclusionPath, treeHash } from "@data-import/domain/merkle/InclusionProof"
import { leafHash } from "@data-import/domain/merkle/MerkleTree"
import { hexOf } from "@data-import/domain/support/Hexadecimal"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { nodesOf } from "@data-import/domain/testing/treeNodes"
import { WireCode } from "@data-import/domain/suppliers/Supplier"
import { bookFile } from "../book/BookFile.ts"
import { certifyBook } from "../certify/CertifyBook.ts"
import { hashing } from "../certify/NodeHashing.ts"
import { configurationOf } from "../check/SupplierConfiguration.ts"
import { wireOf } from "../reconcile/BookAccount.ts"
import { account, book, folder } from "./commandLine.ts"
import { user } from "./onlineCommand.ts"
import { certificate, signing } from "./signedCertificates.ts"

const { digest } = hashing

const id = "0b5a4f6e-3c1d-4e0a-9f53-6a1f0c2d7e88"
const here = `/v1/data-import/certificates/${id}/`
const supplier = WireCode.make("DEMO_ENERGY")
const environment = { DATA_IMPORT_URL: "http://127.0.0.1:1", DATA_IMPORT_API_KEY: "sk_live_0" }

type Answers = Readonly<Record<string, (search: URLSearchParams) => unknown>>

/** A `fetch` with these answers by path; others are 404. */
const answering =
  (answers: Answers): typeof fetch =>
  (input, init) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input)
    const token = { token: "t", payload: { iat: 1, exp: 9_999_999_999 } }
    const all: Answers = {
      "/v1/graphql/": () => ({ data: { obtainServiceToken: token } }),
      ...answers
    }
    const body = all[pathname]?.(searchParams) ?? { detail: "No.", code: "not_found" }
    const success = init?.method === "POST" && pathname in answers ? 202 : 200
    return Promise.resolve(Response.json(body, { status: pathname in all ? success : 404 }))
  }

/** Signs a certificate of these lines, and answers as the service that has issued it. */
const certified = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
  const files = yield* folder
  const name = files.write("certified.ndjson", book(...lines))
  const file = yield* bookFile({ book: name, map: Option.none(), corrections: [], lastWins: false })
  const known = yield* configurationOf({
    configuration: Option.none(),
    supplier: Option.some(supplier)
  })
  const { certificate: own, tree } = yield* certifyBook({
    book: yield* file.open,
    settings: { ...known, supplier },
    cohort: null,
    added: new Map(),
    except: new Set(),
    threads: 1,
    onProgress: () => Effect.void
  })
  const documents = { ...own.documents, bytes: 0, root: own.root, without_checksum: 0 }
  const control_totals = { accounts: 3, balance: null, ledger_balances: null, matches: false }
  const states = { IMPORTED: own.tree_size, FAILED: 1 }
  const content = { ...certificate, ...own, documents, control_totals, states, certificate_id: id }
  const { keys, sign } = yield* signing
  const jws = yield* Effect.promise(() => sign(content))
  const record = {
    certificate_id: id,
    import_supplier: supplier,
    cohort: null,
    status: "ISSUED",
    requested_at: certificate.at,
    ended_at: certificate.at,
    issued_by: certificate.issued_by,
    counts: { tree_size: own.tree_size, states, erased: 0, reverted: 0, documents: 0 },
    certificate: content,
    jws
  }
  const answers: Answers = {
    [here]: () => record,
    [`${here}hashes/`]: (search) => {
      const [level, from, limit] = ["level", "from", "limit"].map((of) => Number(search.get(of)))
      return nodesOf(tree, { level: level ?? 0, from: from ?? 0, limit: limit ?? 0 })
    },
    "/.well-known/certificate-keys.json": () => ({
      keys: (JSON.parse(keys) as { keys: ReadonlyArray<object> }).keys
        .slice(1)
        .map((key) => ({ ...key, alg: "EdDSA", use: "sig" }))
    })
  }
  const { run } = yield* user(environment)
  const asking = (more: Answers, ...words: ReadonlyArray<string>) =>
    run(...words).pipe(
      Effect.provideService(FetchHttpClient.Fetch, answering({ ...answers, ...more }))
    )
  const against = ["--against", files.write("c.jws", jws), "--keys", files.write("k.json", keys)]
  return { files, run, record, sign, asking, against }
})

const numbered = (number: string, values: object = {}) =>
  account({ external_account_number: number, ...values })

const entry = (number: string) => ({
  account: "0".repeat(64),
  added: "",
  balance: "1.00",
  external_account_number: number,
  ledgers: []
})

describe("certificate", () => {
  it.live("issues one and waits for it, lists and shows it, and prints what was signed", () =>
    Effect.gen(function* () {
      const { asking, files, record, run, sign } = yield* certified(
        ["A-1", "A-2"].map((number) => numbered(number))
      )
      const running = { ...record, status: "RUNNING", counts: null, certificate: null, jws: null }
      const list = "/v1/data-import/certificates/"
      const issued = yield* asking({ [list]: () => running }, "certificate", "issue", supplier)
      expect(issued).toMatchObject({ status: 0, err: "" })
      expect(issued.out).toMatch(/^Certificate 0b5a\S+ \[live\]\nstatus: ISSUED\n/)
      expect(issued.out).toContain(`root: ${record.certificate.root}`)
      expect(issued.out).toContain("control totals: 3 accounts were expected; the totals differ")
      expect(issued.out).toContain("http://127.0.0.1:1/.well-known/certificate-keys.json")
      const { certificate: _, jws: __, ...counted } = record
      const listed = yield* asking({ [list]: () => [counted] }, "certificate", "list", supplier)
      expect(listed.out).toMatch(/ ISSUED +\S+ +2 +- +-$/m)
      const shown = yield* asking({}, "certificate", "show", id, "--jose")
      expect(shown).toMatchObject({ status: 0, out: record.jws })
      const hidden = yield* asking({ [here]: () => counted }, "certificate", "show", id, "--jose")
      expect(hidden.err).toContain("the API key does not have account:read")
      const failed = { [here]: () => ({ ...running, status: "FAILED" }), [list]: () => running }
      const none = yield* asking(failed, "certificate", "issue", supplier)
      expect(none).toMatchObject({ status: 2, out: "" })

      const file = files.write("shown.jws", shown.out)
      const verify = ["certificate", "verify", file, "--keys", files.path("k.json")]
      const verified = yield* run(...verify)
      expect(verified.out).toMatch(/is signed with .*: a certificate of 2 accounts/)
      expect(verified.out).toContain(`certificate id: ${id}\nissued by: demo, admin u-1\n`)
      expect(verified.out).toMatch(/^states: 2 IMPORTED, 1 FAILED\nprevious: -$/m)
      expect(verified.out).not.toContain("do not add up")
      const previous = { certificate_id: "c-0", jws_sha256: "0".repeat(64) }
      const unclosed = { ...record.certificate, states: { IMPORTED: 3 }, previous }
      files.write("shown.jws", yield* Effect.promise(() => sign(unclosed)))
      const remarked = yield* run(...verify)
      expect(remarked.out).toContain(`previous: c-0\nSHA-256 of previous: ${previous.jws_sha256}`)
      expect(remarked.out).toMatch(/3 imports are IMPORTED, and 2 accounts are certified\. Ask/)
      files.write("shown.jws", shown.out.replace(".", ".A"))
      expect(yield* run(...verify)).toMatchObject({ status: 2, out: "" })
    })
  )

  it.live("proves an account by its entry and path, and accepts no other answer", () =>
    Effect.gen(function* () {
      const { asking, record, sign } = yield* certified([numbered("A-1")])
      const numbers = ["A-1", "A-2", "A-3"]
      const leaves = numbers.map((of) => leafHash(digest, Buffer.from(JSON.stringify(entry(of)))))
      const root = hexOf(treeHash(digest, leaves))
      const content = { ...record.certificate, tree_size: 3, root }
      const jws = yield* Effect.promise(() => sign(content))
      const path = inclusionPath(digest, leaves, 1).map(hexOf)
      const proof = { leaf_index: 1, entry: entry("A-2"), path }
      const prove = (answer: object, number = "A-2") => {
        const answers = { [here]: () => ({ ...record, jws }), [`${here}proofs/A-2/`]: () => answer }
        return asking(answers, "certificate", "proof", id, number)
      }
      const proved = yield* prove(proof)
      expect(proved).toMatchObject({ status: 0, err: "" })
      expect(proved.out).toMatch(/^Proved: A-2 is one of the 3 accounts .* 2 hashes give/)
      for (const forged of [
        { ...proof, leaf_index: 0 },
        { ...proof, path: path.toReversed() },
        { ...proof, entry: { ...proof.entry, balance: "1.01" } },
        {
          ...proof,
          entry: entry("A-1"),
          leaf_index: 0,
          path: inclusionPath(digest, leaves, 0).map(hexOf)
        }
      ]) {
        const { err, out, status } = yield* prove(forged)
        expect({ out, status }).toEqual({ out: "", status: 2 })
        expect(err).toContain("does not prove that A-2 is in")
      }
      expect((yield* prove(proof, "A-9")).err).toMatch(/no leaf for A-9 in .* proves no absence/)
      const other = id.replace("0", "1")
      const unknown = yield* asking({}, "certificate", "proof", other, "A-2")
      expect(unknown.err).toContain(`has no certificate ${other}`)
    })
  )
})

describe("certify --against", () => {
  it.live("names the accounts that differ and their fields, or why they are unknown", () =>
    Effect.gen(function* () {
      const [first = "", second = "", third = ""] = ["A-1", "A-2", "A-3"].map((number) =>
        numbered(number)
      )
      const { against, asking, files } = yield* certified([first, second, third])
      const changed = numbered("A-2", { "customers.0.given_name": "Eva" })
      const name = files.write("book.ndjson", book(first, changed, numbered("A-4")))
      const words = ["certify", name, "--supplier", supplier, ...against]
      const number = storedAccount.kraken_account_number
      const found = { ...exampleImport, kraken_account_number: number }
      const answers: Answers = {
        [`/v1/data-import/imports/${supplier}/A-2/`]: () => found,
        [`/v1/data-import/accounts/${number}/`]: () => ({
          ...storedAccount,
          account: wireOf(
            domesticAccount({ import_supplier: supplier, external_account_number: "A-2" })
          )
        })
      }
      const { out, status } = yield* asking(answers, ...words)
      expect(status).toBe(1)
      expect(out).toMatch(/^3 accounts differ:$/m)
      expect(out).toMatch(/^2 +A-2 +CHANGED +customers\.0\.given_name +- +Eva +/m)
      expect(out).toMatch(/^- +A-3 +UNEXPECTED/m)
      expect(out).toMatch(/^3 +A-4 +MISSING/m)
      const unread = yield* asking({}, ...words, "--json")
      expect(JSON.parse(unread.out)).toMatchObject({
        certificate: {
          accounts: {
            differing: [
              { external_account_number: "A-2", in: "both" },
              { external_account_number: "A-3", in: "certificate" },
              { external_account_number: "A-4", in: "book" }
            ]
          }
        }
      })
      const { run } = yield* user()
      const offline = yield* run(...words)
      expect(offline.status).toBe(1)
      expect(offline.out).toMatch(/not found out\. There is no profile default/)
    })
  )

  it.live("tells additions, alterations and sums apart where no field differs", () =>
    Effect.gen(function* () {
      const { against, asking, files, record, sign } = yield* certified([
        numbered("A-1", { "customers.0.given_name": "Eva" })
      ])
      const wire = domesticAccount({ import_supplier: supplier, external_account_number: "A-1" })
      const name = files.write("book.ndjson", book(numbered("A-1")))
      const number = storedAccount.kraken_account_number
      const certify = (account: string, ...more: ReadonlyArray<string>) => {
        const answers: Answers = {
          [`/v1/data-import/imports/${supplier}/A-1/`]: () => ({
            ...exampleImport,
            kraken_account_number: number
          }),
          [`/v1/data-import/accounts/${number}/`]: () => ({
            ...storedAccount,
            account: wireOf(wire)
          }),
          [`${here}proofs/A-1/`]: () => ({
            leaf_index: 0,
            entry: { ...entry("A-1"), account, balance: twoDecimals(openingBalance(wire)) },
            path: []
          })
        }
        return asking(answers, "certify", name, "--supplier", supplier, ...against, ...more)
      }
      const accepted = hashing.sha256(finish(accountTextInSteps(wire)))
      const hinted = (yield* certify(accepted)).out
      expect(hinted).toMatch(/^Only what was added .* differs in 1 of them: A-1\. --added names/m)
      expect(hinted).not.toMatch(/ CHANGED /)
      const added = files.write("added.ndjson", "")
      expect((yield* certify(accepted, "--added", added)).out).toMatch(/ CHANGED +added/)
      const altered = (yield* certify("0".repeat(64))).out
      expect(altered).toMatch(/ CHANGED +account[^]*^account: .* not what it accepted/m)

      const jws = yield* Effect.promise(() => sign({ ...record.certificate, balance: "9.00" }))
      files.write("c.jws", jws)
      const same = ["certify", files.path("certified.ndjson"), "--supplier", supplier, ...against]
      const { out, status } = yield* asking({}, ...same)
      expect(status).toBe(1)
      expect(out).toMatch(
        /^Different: the sums of [^]*^balance +\S+ +9\.00$[^]*^The roots are equal/m
      )
    })
  )
})
