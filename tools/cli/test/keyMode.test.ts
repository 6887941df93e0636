/** Every command that asks the service says first with which kind of key, and what is a dry run. */
import { mkdirSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Command } from "effect/cli"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { dataImport } from "../DataImport.ts"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf } from "./sentBook.ts"

const leavesOf = ({ name, subcommands }: Command.Command.Any): ReadonlyArray<string> => {
  const inner = subcommands.flatMap(({ commands }) => commands)
  return inner.length === 0
    ? [name]
    : inner.flatMap((each) => leavesOf(each).map((leaf) => `${name} ${leaf}`))
}

/** Commands that ask no service, and one that does nothing with a live key. */
const unmarked = new Set([
  "check",
  "certify",
  "certificate verify",
  "map suggest",
  "map preview",
  "profile list",
  "sandbox reset"
])

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the first line of every command",
  (it) => {
    it.effect("says whether the key is live or a test key, and what is a dry run", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const { batches, certificates, query } = yield* effectClient(tenant)
        const supplier = tenant.supplier as string
        const dry = {
          import_supplier: tenant.supplier,
          operation: "IMPORT",
          operations_team_name: team,
          dry_run: true,
          max_failures: 0
        } as const
        const bytes = new TextEncoder().encode(bookOf(3_000))
        const { batch_id: id } = yield* batches.send(dry, Stream.make(bytes))
        yield* Stream.runHead(Stream.filter(batches.follow(id), ({ state }) => state === "PAUSED"))
        const seen = new Set<string>()
        const expectFirst = Effect.fnUntraced(function* (
          line: string,
          pattern: RegExp,
          ...more: ReadonlyArray<string>
        ) {
          const { err, out } = yield* run(...line.split(" "), ...more)
          const [first = ""] = [err, out]
            .filter((text) => text !== "")
            .join("\n")
            .split("\n")
          expect(first, line).toMatch(/ \[live\]$/)
          expect(first, line).toMatch(pattern)
          seen.add(line)
        })
        for (const name of ["show", "resume", "pause", "cancel", "watch", "results", "retry"]) {
          yield* expectFirst(`batch ${name}`, /dry run/i, id)
        }
        yield* expectFirst("batch list", /dry_run/, supplier)
        const book = home.write("book.ndjson", bookOf(1))
        const sent = [book, "--supplier", supplier, "--import", "--team", team]
        const failed = ["--failed", home.path("failed.ndjson")]
        yield* expectFirst("send", /dry run/, ...sent, "--dry-run", ...failed)
        yield* expectFirst("send", /^Sending: /, ...sent, ...failed)
        yield* expectFirst("reconcile", /1 lines/, book, "--supplier", supplier)
        yield* expectFirst("login", /The key is valid/)
        yield* expectFirst("auth status", /is valid at/)
        yield* expectFirst("api GET", /limits\/ answers 200/, "/v1/data-import/limits/")
        yield* expectFirst("configuration", /configuration of/, supplier)
        yield* expectFirst("summary", /./, supplier)
        yield* expectFirst("import show", /./, supplier, "B-0001")
        const params = { import_supplier: tenant.supplier, external_account_number: "B-0001" }
        const { kraken_account_number: number } = yield* query.getImport({ params })
        yield* expectFirst("account show", /./, String(number))
        yield* expectFirst("events tail", /Events after 0/, "--after", "0", "--until-now")
        yield* expectFirst("certificate issue", /^Certificate /, supplier)
        yield* expectFirst("certificate list", /certificate_id/, supplier)
        const ofSupplier = { import_supplier: tenant.supplier }
        const [issued] = yield* certificates.listCertificates({ query: ofSupplier })
        const certificate = String(issued?.certificate_id)
        yield* expectFirst("certificate show", /^Certificate /, certificate)
        yield* expectFirst("certificate proof", /^Proved: /, certificate, "B-0001")
        mkdirSync(home.path("documents"))
        yield* expectFirst(
          "documents upload",
          /0 files/,
          home.path("documents"),
          ...sent.slice(1, 3)
        )
        const root = yield* dataImport(["--completions"])
        const all = leavesOf(root).map((leaf) => leaf.replace("data-import ", ""))
        expect(all.filter((leaf) => !seen.has(leaf) && !unmarked.has(leaf))).toEqual([])
      }).pipe(Effect.scoped)
    )
  }
)
