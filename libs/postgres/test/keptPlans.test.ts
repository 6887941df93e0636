/**
 * Statements of a single request are planned once per connection: PostgreSQL itself counts the
 * executions with custom and with generic plans. It decides after five executions.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import {
  freshAttempt,
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import {
  adding,
  changeAccount,
  creditOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database, rowsOf } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const planned = 5
const executions = 2 * planned
const numbers = Array.from({ length: executions }, (_, at) => `n${at}`)

const kept = [{ custom: planned, kept: executions - planned }]

/** How the prepared statements with this text were executed. */
const plansOf = (part: string) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    run(
      rowsOf(Schema.Struct({ custom: Schema.Int, kept: Schema.Int }))(sql`
        select sum(custom_plans)::integer as custom, sum(generic_plans)::integer as kept
        from pg_prepared_statements where statement like ${`%${part}%`}
          and statement not like '%pg_prepared_statements%'`)
    )
  )

layer(TestDatabase.layerCountedPorts(Duration.seconds(20)), { excludeTestServices: true })(
  "the plan of a statement",
  (it) => {
    it.effect("of single stagings, claims and completions is kept", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { caller, keyOf } = yield* freshSupplier
        for (const number of numbers) {
          const key = keyOf(number)
          const attempt = freshAttempt()
          const lease = Duration.minutes(1)
          const limits = { deployment: null, supplier: null }
          yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
          yield* imports.claim({ key, attempt, dryRun: false, lease, limits, caller, at: noon })
          const newAccount = { ...newAccountFor(key, noonPlus(1)), account: domesticAccount(key) }
          yield* imports.complete({ key, attempt, newAccount, caller })
        }
        expect(yield* plansOf("insert into import_processes"), "stage").toEqual(kept)
        expect(yield* plansOf("insert into import_attempts"), "claim").toEqual(kept)
        expect(yield* plansOf("insert into accounts"), "complete").toEqual(kept)
      })
    )

    it.effect("of a single addition is kept", () =>
      Effect.gen(function* () {
        const account = yield* imported()
        yield* Effect.forEach(numbers, (id) => changeAccount(account, adding(creditOf(id))))
        expect(yield* plansOf("update accounts set balance")).toEqual(kept)
      })
    )
  }
)
