/** The verifier of the guide accepts what the service signs and proves, and nothing else. */
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { inclusionPath, treeHash } from "@data-import/domain/merkle/InclusionProof"
import { leafHash } from "@data-import/domain/merkle/MerkleTree"
import { hexOf } from "@data-import/domain/support/Hexadecimal"
import { hashing } from "../certify/NodeHashing.ts"
import { folder } from "./commandLine.ts"
import { certificate, signing } from "./signedCertificates.ts"

const { digest } = hashing

const page = readFileSync(join(import.meta.dirname, "../../../docs/guide/proving.md"), "utf8")
const [, verifier = ""] = /^```python shell\n([^]*?)^```$/m.exec(page) ?? []

const isInstalled = (["python3", "openssl version"] as const).every((line) => {
  const [command = "", ...args] = line.split(" ")
  return spawnSync(command, args.length === 0 ? ["--version"] : args).status === 0
})

const entry = (number: string, balance = "1.00") => ({
  account: "0".repeat(64),
  added: "",
  balance,
  external_account_number: number,
  ledgers: [{ balance, ledger_code: "GAS" }]
})

describe.skipIf(!isInstalled)("the verifier of the guide", () => {
  it.effect(
    "verifies a certificate and its proofs, and refuses every other one",
    () =>
      Effect.gen(function* () {
        const files = yield* folder
        const numbers = ["A-1", 'A-"2"', "A-\u{1f600}", "A-\u{e9}", "Z"]
        const leaves = numbers.map((of) => leafHash(digest, Buffer.from(JSON.stringify(entry(of)))))
        const { keys, sign } = yield* signing
        const root = hexOf(treeHash(digest, leaves))
        const content = { ...certificate, tree_size: leaves.length, root, balance: "5.00" }
        const jws = yield* Effect.promise(() => sign(content))
        const script = files.write("verify.py", verifier)
        const keysFile = files.write("keys.json", keys)
        const verify = (record: string, ...proofs: ReadonlyArray<object>) => {
          const names = proofs.map((proof, at) => files.write(`${at}.json`, JSON.stringify(proof)))
          const words = [script, files.write("c.jws", record), keysFile, ...names]
          return execFileSync("python3", words, { encoding: "utf8", stdio: "pipe" })
        }
        const proofs = numbers.map((number, at) => ({
          leaf_index: at,
          entry: entry(number),
          path: inclusionPath(digest, leaves, at).map(hexOf)
        }))
        const out = verify(jws, ...proofs)
        expect(out).toMatch(/^signed: 5 accounts, balance 5\.00\n/)
        const names = ["iss", "certificate_id", "import_supplier", "cohort", "mode", "at"] as const
        for (const name of names) {
          expect(out).toContain(`\n${name}: ${content[name] ?? "None"}\n`)
        }
        expect(out.match(/^proved: .* with the balance as imported 1\.00$/gm)).toHaveLength(
          numbers.length
        )

        const [first] = proofs
        expect(() => verify(jws, { ...first, leaf_index: 1 })).toThrow(/does not prove A-1/)
        expect(() => verify(jws, { ...first, entry: entry("A-1", "1.01") })).toThrow(
          /does not prove/
        )
        const [header = "", , signature = ""] = jws.split(".")
        const payload = Buffer.from(JSON.stringify({ ...content, balance: "6.00" }))
        const changed = [header, payload.toString("base64url"), signature].join(".")
        expect(() => verify(changed)).toThrow(/signature is not valid/)
        const token = yield* Effect.promise(() => sign(content, { typ: "at+jwt" }))
        expect(() => verify(token)).toThrow(/signature is not valid/)
        const later = yield* Effect.promise(() => sign({ ...content, version: 2 }))
        expect(() => verify(later)).toThrow(/Version 2 is unknown/)
        const foreign = yield* Effect.promise(() => sign(content, { kid: "k-9" }))
        expect(() => verify(foreign)).toThrow(/: python3[^\n]*\nNo key of \S+ has the kid k-9\./)
      }),
    60_000
  )
})
