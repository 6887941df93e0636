/**
 * Paths that try to leave the supplier's root: none of them finds a file, and none causes a
 * failure.
 */
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { errorsOf, Premises, putDocument } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { addStatements, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const failed = "request_failed_validation"
const invalid = "invalid_document_path"
const missing = "path_does_not_exist_in_file_store"

/**
 * Makes a path that tries to reach `target`, which is relative to the bucket, and the code of its
 * refusal.
 */
type Kind = readonly [make: (target: string) => string, code: string]

const up: ReadonlyArray<Kind> = [
  [(target) => `../${target}`, invalid],
  [(target) => `/../${target}`, invalid],
  [(target) => `./../${target}`, invalid],
  [(target) => `a/../../${target}`, invalid],
  [(target) => `there.pdf/../../${target}`, invalid],
  [(target) => `link/../../${target}`, invalid],
  [(target) => `..//${target}`, invalid],
  [(target) => `..\\${target}`, invalid],
  [(target) => `..\\/${target}`, invalid],
  [(target) => `../${target}`.replaceAll("/", "\\"), invalid],
  [(target) => ` ../${target} `, invalid]
]

/** The target without `../`, for paths that are refused for another reason. */
const below = (target: string) => target.replaceAll("../", "")

const encoded: ReadonlyArray<Kind> = [
  [(target) => `%2e%2e/${target}`, invalid],
  [(target) => `%2E./${target}`, invalid],
  [(target) => `..%2f${target}`, invalid],
  [(target) => `..%5C${target}`, invalid],
  [(target) => `%2e%2e%2f${target}`.replaceAll("/", "%2f"), invalid],
  [(target) => `there.pdf%00${target}`, invalid],
  [(target) => `%252e%252e%252f${below(target)}`, missing],
  [(target) => `%c0%ae%c0%ae%c0%af${below(target)}`, missing],
  [(target) => `%u002e%u002e/${below(target)}`, missing],
  [(target) => `&period;&period;&sol;${below(target)}`, missing],
  [(target) => `\uFF0E\uFF0E/${below(target)}`, missing],
  [(target) => `..\uFF0F${below(target)}`, missing],
  [(target) => `\u2025/${below(target)}`, missing],
  [(target) => `..\u2215${below(target)}`, missing],
  [(target) => `..\u200B/${below(target)}`, missing],
  [(target) => `..;/${below(target)}`, missing]
]

const absolute: ReadonlyArray<Kind> = [
  [(target) => `//${target}`, invalid],
  [(target) => `///${target}`, invalid],
  [(target) => `\\\\${target}`, invalid],
  [(target) => `/\\${target}`, invalid],
  [(target) => `C:\\${target}`, invalid],
  [(target) => `c:/${target}`, invalid],
  [(target) => `/c:/${target}`, invalid],
  [(target) => `file:///${target}`, invalid],
  [(target) => `file:${target}`, invalid],
  [(target) => `https://127.0.0.1/${target}`, invalid],
  [(target) => `s3://bucket/${target}`, invalid],
  [(target) => `x-y+z.1:${target}`, invalid],
  [(target) => `~/${below(target)}`, missing],
  [(target) => `$HOME/${below(target)}`, missing],
  [(target) => `/${below(target)}`, missing]
]

const broken: ReadonlyArray<Kind> = [
  [(target) => `${target}/.`, invalid],
  [(target) => `${target}/..`, invalid],
  [(target) => `${target}/`, invalid],
  [(target) => `a//${target}`, invalid],
  [(target) => `there.pdf\0${target}`, invalid],
  [(target) => `a\n${target}`, invalid],
  [(target) => `a\u007F${target}`, invalid],
  [(target) => `a\u0085${target}`, invalid],
  [(target) => `\uD800/${target}`, invalid],
  [(target) => `there.pdf/${below(target)}`, missing],
  [(target) => `links/loop/${below(target)}`, missing],
  [(target) => `${below(target)}${"a".repeat(300)}`, missing],
  [(target) => `${"\u{1F600}".repeat(900)}/${below(target)}`, missing],
  [(target) => `${"a".repeat(1_025)}/${below(target)}`, "max_length"],
  [(target) => `there.pdf' or '1'='1/${below(target)}`, missing],
  [(target) => `there.pdf; cat ${below(target)}`, missing]
]

/** A bucket with a document of the supplier, and documents that it must not see. */
const arranged = Effect.gen(function* () {
  const { documents } = yield* Premises
  const rival = yield* freshTenant()
  const account = yield* importedAccount(bareAccountOf, { documentCheck: true })
  const { documentRoot } = account.tenant.supplier
  yield* putDocument(account.tenant, "there.pdf")
  yield* putDocument(account.tenant, "links/there.pdf")
  yield* putDocument(rival, "secret.pdf")
  writeFileSync(join(documents, "secret.pdf"), "secret")
  const links = join(documents, documentRoot, "links")
  symlinkSync(documents, join(links, "out"))
  symlinkSync("/etc/hosts", join(links, "hosts"))
  symlinkSync("loop", join(links, "loop"))
  const targets = [
    "secret.pdf",
    `${rival.supplier.documentRoot}/secret.pdf`,
    `${documentRoot}/there.pdf`,
    `${"../".repeat(12)}etc/hosts`
  ]
  return { account, targets }
})

const withPath = (statement_path: string, index: number) => ({
  bill_period_from_date: "2025-05-01",
  bill_period_to_date: "2025-05-31",
  statement_id: String(index),
  statement_path
})

layer(service, { excludeTestServices: true })("a document path", (it) => {
  describe("out of the supplier's root", () => {
    it.effect("is refused alike in one request and in several", () =>
      Effect.gen(function* () {
        const { account, targets } = yield* arranged
        const kinds = [...up, ...encoded, ...absolute, ...broken]
        const attacks = kinds.flatMap(([make, code]) =>
          targets.map((target) => [make(target), code] as const)
        )
        const reply = yield* addStatements(
          account,
          attacks.map(([path], index) => withPath(path, index))
        )
        expect(errorsOf(reply)).toEqual([
          failed,
          ...attacks.map(([, code], index) => `statements.${index}.statement_path: ${code}`)
        ])
      })
    )

    it.effect("is not followed through a link", () =>
      Effect.gen(function* () {
        const { account } = yield* arranged
        const links = ["links/hosts", "links/out", "links/out/secret.pdf", "links/loop"]
        const reply = yield* addStatements(account, links.map(withPath))
        expect(errorsOf(reply)).toEqual([
          failed,
          ...links.map((_, index) => `statements.${index}.statement_path: ${missing}`)
        ])
      })
    )
  })
})
