/**
 * A supplier's whole migration: `npm run bench:journey` takes the ten commands of the README of
 * `data-import` from an empty folder to a complete report, with faults, two kills and a lost
 * network on the way.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as System from "@data-import/testbed/System"
import * as Flags from "./Flags.ts"
import { journey } from "./journey/Journey.ts"
import { publish } from "./Results.ts"
import { short, table } from "./Table.ts"

const flags = {
  accounts: Flags.positive("accounts").pipe(
    Flag.withDescription("Accounts of the book, in hundreds"),
    Flag.withDefault(10_000)
  ),
  write: Flags.write
}

const command = Command.make(
  "bench:journey",
  flags,
  Effect.fnUntraced(
    function* ({ accounts, write }) {
      const { checkedTenant, services } = yield* System.System
      const { faulty, steps } = yield* journey(services.gateway.url, yield* checkedTenant, accounts)
      const rows = steps.map(({ command: name, seconds, told }) => [name, short(seconds), told])
      const count = (number: number) => number.toLocaleString("en-GB")
      const title = `${count(accounts)} accounts, ${count(faulty)} of them faulty`
      const text = table(["command", "s", "what it tells"], rows)
      yield* publish("journey", "bench:journey", "A whole migration", [{ title, text }], write)
    },
    Effect.provide(System.layer({ proxied: false, seed: 1 }))
  )
).pipe(Command.withDescription("Measures a supplier's whole migration, command by command"))

runMain(command, { messageOf: Flags.messageOf })
