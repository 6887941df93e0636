/** A book is compared with a certificate offline, and a changed certificate is refused. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { base64url } from "jose"
import { account, book, dataImport, folder } from "./commandLine.ts"
import { certificate, signing } from "./signedCertificates.ts"

interface Answer {
  readonly [member: string]: unknown
  readonly root: string
  readonly certificate: { readonly differences: ReadonlyArray<object> }
}

const words = ["--supplier", "DEMO_ENERGY"]

const certified = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { out, status } = yield* dataImport("certify", ...args, ...words, "--json")
  return { status, answer: JSON.parse(out) as Answer }
})

/** The files of a book in two orders, and a certificate of it. */
const certifiedBook = Effect.gen(function* () {
  const files = yield* folder
  const numbers = ["NL-1", "NL-\u{ffee}", "NL-\u{1f600}"]
  const lines = numbers.map((number) => account({ external_account_number: number }))
  const name = files.write("book.ndjson", book(...lines))
  const shuffled = files.write("shuffled.ndjson", book(...lines.toReversed(), lines[0] ?? ""))
  const { answer } = yield* certified(name)
  const { documents, ...sums } = answer as Answer & { readonly documents: object }
  const empty = { bytes: 0, root: answer.root, without_checksum: 0 }
  const states = { IMPORTED: lines.length }
  const payload = { ...sums, ...certificate, states, documents: { ...documents, ...empty } }
  const { jwk, keys, sign } = yield* signing
  const against = (jws: string, set = keys) => [
    "--against",
    files.write("certificate.jws", `${jws}\n`),
    "--keys",
    files.write("keys.json", set)
  ]
  return { files, name, shuffled, payload, sign, jwk, against }
})

describe("certify", () => {
  it.effect("proves that the certified accounts are those of the book, whatever its order", () =>
    Effect.gen(function* () {
      const { against, files, name, payload, shuffled, sign } = yield* certifiedBook
      const jws = yield* Effect.promise(() => sign(payload))
      const proof = yield* dataImport("certify", shuffled, ...words, ...against(jws), "--totals")
      expect(proof).toMatchObject({ status: 0, err: "" })
      expect(proof.out).toMatch(/^\S+, computed offline: 4 lines = 3 accounts \+ 1 repeated /)
      expect(proof.out).toMatch(
        /^Proved: the 3 accounts of DEMO_ENERGY in certificate c-1 \[live\]/m
      )
      expect(proof.out).toMatch(/^CHARGE +IMPORTED_CHARGE +6 /m)

      const penny = { ledgers: [], transfer_balance: 0.01 }
      const changed = account({ external_account_number: "NL-1", ...penny })
      const [, ...others] = files.read("book.ndjson").trim().split("\n")
      const other = files.write("changed.ndjson", book(changed, ...others, "no JSON"))
      const { answer, status } = yield* certified(other, ...against(jws))
      expect(status).toBe(1)
      expect(answer).toMatchObject({ failed_lines: 1, tree_size: 3 })
      expect(answer.certificate.differences).toContainEqual({
        name: "balance_as_imported",
        book: "100.01",
        certified: "150.00"
      })
      const added = files.write(
        "added.ndjson",
        [
          ["NL-1", { body: "called", created_at: "2024-01-01T10:00:00Z" }],
          ["NL-9", { body: "called", created_at: "2024-01-01T10:00:00Z" }],
          ["NL-1", { body: "wrote" }]
        ]
          .map(([number, note]) =>
            JSON.stringify({ external_account_number: number, notes: [note] })
          )
          .join("\n")
      )
      const more = yield* dataImport("certify", name, ...words, ...against(jws), "--added", added)
      expect(more.status).toBe(1)
      expect(more.out).toMatch(
        /added\.ndjson:3: notes\.0\.created_at: .* The answer of the service has it\.$/m
      )
      expect(more.out).toMatch(/Additions do not count if .* not in the tree: 1\./)
      expect(more.out).toMatch(/^root +[0-9a-f]{64} +[0-9a-f]{64}$/m)
      expect(more.out).not.toMatch(/^balance +\d/m)
    })
  )

  it.effect("takes the lines of a cohort, or the whole book as one", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const north = `{"payload":${account()},"cohort":"north"}`
      const south = account({ external_account_number: "S-1" })
      const name = files.write("book.ndjson", book(north, south))
      const one = yield* certified(name, "--cohort", "north")
      expect(one.answer).toMatchObject({ tree_size: 1, other_cohorts: 1, cohort: "north" })
      const whole = yield* certified(name, "--cohort", "north", "--whole-book")
      expect(whole.answer).toMatchObject({ tree_size: 2, other_cohorts: 0, cohort: "north" })
      const except = files.write("except.txt", "S-1\r\nS-2\r\n")
      const rest = yield* certified(name, "--except", except)
      expect(rest.answer).toMatchObject({ tree_size: 1, excepted_lines: 1, cohort: null })
    })
  )

  it.effect("refuses a certificate that is changed, or of another kind, key or supplier", () =>
    Effect.gen(function* () {
      const { against, jwk, name, payload, sign } = yield* certifiedBook
      const refusal = Effect.fnUntraced(function* (jws: string, keys?: string) {
        const { err, out, status } = yield* dataImport(
          "certify",
          name,
          ...words,
          ...against(jws, keys)
        )
        expect({ out, status }, err).toEqual({ out: "", status: 2 })
        return err
      })
      const signed = (more: object, header = {}) =>
        Effect.promise(() => sign({ ...payload, ...more }, header))
      const jws = yield* signed({})
      for (let at = 0; at < jws.length; at += 97) {
        const other = jws[at] === "A" ? "B" : "A"
        yield* refusal(jws.slice(0, at) + other + jws.slice(at + 1))
      }
      // The last character of a signature has bits that decoders ignore.
      const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      const spelt = last[(last.indexOf(jws.at(-1) ?? "") & ~15) + 1] ?? ""
      expect(base64url.decode(jws.slice(-86))).toEqual(
        base64url.decode(`${jws.slice(-86, -1)}${spelt}`)
      )
      expect(yield* refusal(jws.slice(0, -1) + spelt)).toContain("canonical")
      expect(yield* refusal(yield* signed({}, { typ: "at+jwt" }))).toContain("its typ")
      expect(yield* refusal(yield* signed({}, { kid: "other" }))).toContain("no published key")
      expect(yield* refusal(yield* signed({}, { crit: ["exp"], exp: 1 }))).toMatch(/crit|exp/i)
      expect(yield* refusal(jws, JSON.stringify({ keys: [] }))).toContain("no published key")
      expect(yield* refusal(jws, JSON.stringify(jwk))).toContain("not a set of public keys")
      expect(yield* refusal(yield* signed({ version: 2 }))).toContain("version")
      expect(yield* refusal(yield* signed({ cohort: "north" }))).toContain("the cohort north")
    })
  )
})
