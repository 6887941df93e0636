/** The map in the guide is read as it stands, and means what the guide says. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { user } from "./onlineCommand.ts"

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guide/book.md"), "utf8")

it.live("the map of the guide reads a row of the old system that it describes", () =>
  Effect.gen(function* () {
    const { home, run } = yield* user()
    const map = home.write("columns.json", /```json\n([^]*?)```/.exec(guide)?.[1] ?? "")
    const rows = [
      "Customer no.,Surname,Mobile,Sold on,Balance,Vacant,Remark",
      '1,Holm,07700 900123,31.01.2025,"1.234,56",N,x',
      "2,Holm,07700 900123,31.01.2025,12.50,N,x"
    ]
    const book = home.write("customers.csv", rows.join("\n"))
    const { out } = yield* run("check", book, "--map", map, "--supplier", "DEMO", "--json")
    expect(JSON.parse(out)).toMatchObject({
      valid_lines: 1,
      problems: [{ attr: "transfer_balance", examples: [{ row: 3, value: '"12.50"' }] }]
    })
  }).pipe(Effect.scoped)
)
