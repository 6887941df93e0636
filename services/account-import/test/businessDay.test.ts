/**
 * Over HTTP: the supplier's time zone decides whether a date is in the future, although requests do
 * not name it.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { businessDay, TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { nextDay } from "@data-import/domain/schema/Field"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { service, stage, validate } from "./importService.ts"

/** 25 hours apart: it is never the same day in both. */
const kiritimati = TimeZone.make("Pacific/Kiritimati")
const pagoPago = TimeZone.make("Pacific/Pago_Pago")

const days = Effect.map(DateTime.now, (now) => ({
  ahead: businessDay(now, kiritimati),
  behind: businessDay(now, pagoPago)
}))

/** Repeats the effect if a day changes while it runs. */
const onOneDay = <A, E, R>(
  ask: (today: Effect.Success<typeof days>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const before = yield* days
    const answer = yield* ask(before)
    const after = yield* days
    const isSame = before.ahead === after.ahead && before.behind === after.behind
    return isSame ? answer : yield* ask(after)
  })

layer(service, { excludeTestServices: true })("the business day", (it) => {
  it.effect("is that of the supplier, even for an equal account", () =>
    Effect.gen(function* () {
      const tenants = {
        ahead: yield* freshTenant({ timeZone: kiritimati }),
        behind: yield* freshTenant({ timeZone: pagoPago })
      }
      const future = [
        "account_failed_validation",
        "customers.0.date_of_birth: max_value",
        "ledgers.0: historical_statement_period_end_in_future",
        "ledgers.1.current_statement_transactions.0.transaction_date: transaction_in_future"
      ]
      const ask = Effect.fnUntraced(function* (of: keyof typeof tenants, day: string) {
        const tenant = tenants[of]
        const payload = {
          ...tenant.keyOf(`dated ${day}`),
          customers: [{ family_name: "Holm", date_of_birth: day }],
          ledgers: [
            { ledger_code: "CLOSED", last_statement_closing_date: day },
            {
              ledger_code: "OPEN",
              current_statement_transactions: [
                { transaction_id: "t1", transaction_date: day, amount: 1, type: "CREDIT" }
              ]
            }
          ]
        }
        const validated = yield* validate(tenant, payload)
        const staged = yield* stage(tenant, payload)
        const errors = [validated, staged].map((reply) =>
          reply.status < 300 ? [] : errorsOf(reply)
        )
        expect(errors[0]).toEqual(errors[1])
        return errors[0]
      })
      const answers = yield* onOneDay(({ ahead, behind }) =>
        Effect.all({
          aheadToday: ask("ahead", ahead),
          aheadTomorrow: ask("ahead", nextDay(ahead)),
          behindToday: ask("behind", behind),
          behindTomorrow: ask("behind", nextDay(behind)),
          behindOnTheDayAhead: ask("behind", ahead)
        })
      )
      expect(answers).toEqual({
        aheadToday: [],
        aheadTomorrow: future,
        behindToday: [],
        behindTomorrow: future,
        behindOnTheDayAhead: future
      })
    })
  )
})
