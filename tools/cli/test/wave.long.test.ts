/**
 * A wave with wrong signs is taken back, by the command and by the board, corrected, imported again
 * and certified.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem, WholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { importing } from "./sentBook.ts"

const accounts = 2_000
const wrong = 100

/** Accounts that owe a pound, of which the first ones have the wrong sign. */
const bookWith = (wrongSigns: number): string =>
  Array.from({ length: accounts }, (_, index) =>
    JSON.stringify({
      external_account_number: `W-${String(index).padStart(4, "0")}`,
      unknown_occupier: true,
      transfer_balance: index < wrongSigns ? "-1.00" : "1.00"
    })
  ).join("\n")

const cohort = "wave-3"
const reason = "Wrong sign"

/** Undoes the wave as a manager's browser does; returns the batch. */
const undoOnBoard = Effect.fnUntraced(function* (supplier: string) {
  const { gatewayUrl: origin } = yield* WholeSystem
  const secret = yield* issueLink
  return yield* Effect.promise(async () => {
    const signedIn = await fetch(`${origin}/board/sign-in/${secret}/`, {
      method: "POST",
      redirect: "manual",
      headers: { origin }
    })
    const cookie = signedIn.headers.get("set-cookie")?.split(";", 1)[0] ?? ""
    const session = await fetch(`${origin}/board/api/session/`, { headers: { origin, cookie } })
    const { csrf_token: token } = (await session.json()) as { readonly csrf_token: string }
    const command = { batch_id: crypto.randomUUID(), cohort, reason, with_additions: false }
    const undone = await fetch(`${origin}/board/api/migrations/${supplier}/undo/`, {
      method: "POST",
      headers: { origin, cookie, "x-csrf-token": token, "content-type": "application/json" },
      body: JSON.stringify(command)
    })
    expect(await undone.json()).toEqual({ batch_id: command.batch_id, lines: accounts })
    return command.batch_id
  })
})

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "a wave with wrong signs",
  (it) => {
    it.effect(
      "is taken back, imported again, and proved against the corrected book",
      () =>
        Effect.gen(function* () {
          const tenant = yield* clientTenant()
          const { home, run } = yield* user(environmentOf(tenant))
          const { supplier } = tenant
          const send = (book: string) => {
            const failed = ["--failed", home.path(`${crypto.randomUUID()}.ndjson`)]
            return run(...importing(tenant, book), "--cohort", cohort, ...failed)
          }
          const counted = new RegExp(`${accounts.toLocaleString("en-GB")} succeeded`)
          const first = home.write("first.ndjson", bookWith(wrong))
          const corrected = home.write("corrected.ndjson", bookWith(0))
          const why = ["--reason", reason, "--yes", "--json"]
          const revert = run("batch", "revert", supplier, "--cohort", cohort, ...why)
          const byCommand = Effect.map(
            revert,
            ({ out }) => (JSON.parse(out) as { readonly batch_id: string }).batch_id
          )
          const again = home.write("again.ndjson", bookWith(wrong / 2))
          for (const [book, taking] of [
            [first, byCommand],
            [again, undoOnBoard(supplier)]
          ] as const) {
            expect((yield* send(book)).out).toMatch(counted)
            expect((yield* send(corrected)).status).toBe(1)
            const reverted = yield* run("batch", "watch", yield* taking, "--json")
            expect(JSON.parse(reverted.out)).toMatchObject({ counts: { succeeded: accounts } })
          }
          expect((yield* send(corrected)).out).toMatch(counted)
          const issued = yield* run("certificate", "issue", supplier, "--json")
          const { jws } = JSON.parse(issued.out) as { readonly jws: string }
          const published = fetch(`${tenant.baseUrl}/.well-known/certificate-keys.json`)
          const keys = yield* Effect.promise(async () => (await published).text())
          const against = (book: string) =>
            run(
              ...["certify", book, "--supplier", supplier],
              ...["--against", home.write("wave.jws", jws), "--keys", home.write("keys.json", keys)]
            )
          expect((yield* against(corrected)).out).toMatch(/^Proved: the 2,?000 accounts/m)
          expect(yield* against(first)).toMatchObject({ status: 1 })
        }).pipe(Effect.scoped),
      300_000
    )
  }
)
