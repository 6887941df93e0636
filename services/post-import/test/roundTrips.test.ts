/** The number of statements of a large request, counted on their way to the database. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Result, Tracer } from "effect"
import { PostImport, layer as program } from "@data-import/domain/additions/PostImport"
import { layerMemory as documents } from "@data-import/domain/testing/memory/Documents"
import { layerMemory as paymentVendor } from "@data-import/domain/testing/memory/PaymentVendor"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { type Account, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const postImport = Layer.provideMerge(
  Layer.provide(program, [documents(new Map()), paymentVendor]),
  service
)

/** How many statements and transactions the effect sends to the database. */
const trafficOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const traffic = () => ({
      transactions: spans.filter(({ name }) => name === "sql.transaction").length,
      statements: spans.filter(({ kind }) => kind === "client").length
    })
    return Effect.map(Effect.withTracer(effect, tracer), traffic)
  })

const byDefault = Result.succeed({
  checkPreviouslyAdded: true,
  forceAddToCurrentStatement: true,
  onDifference: "keep" as const
})

/** Adds this many transactions of 0.01 with different ids. */
const adding = ({ key, tenant }: Account, count: number) =>
  Effect.flatMap(PostImport, ({ createTransactions }) =>
    createTransactions(
      tenant.caller,
      {
        ...key,
        transactions: Array.from({ length: count }, (_, index) => ({
          transaction_id: `${count} ${index}`,
          transaction_date: "2025-05-05",
          amount: "0.01",
          type: "CREDIT"
        }))
      },
      byDefault
    )
  )

layer(postImport, { excludeTestServices: true })("a post-import request", (it) => {
  it.effect("of 10,000 transactions takes no more statements than that of one transaction", () =>
    Effect.gen(function* () {
      const account = yield* importedAccount(bareAccountOf)
      const one = yield* trafficOf(adding(account, 1))
      const many = yield* trafficOf(adding(account, 10_000))
      expect(one).toEqual({ transactions: 0, statements: 3 })
      expect(many).toEqual(one)
      expect((yield* descriptionOf(account.number)).balance).toBe("100.01")
    })
  )
})
