/**
 * The lists of imports as streams, page by page, whatever their length.
 * Source: docs/contract/queries.md#pages.
 */
import { Effect, Option, Stream } from "effect"
import type { Answered } from "./Calls.ts"
import type { Answer, Operation, Operations } from "./Operations.ts"

type ListId = "listAllAccountImports" | "listPendingAccountImports" | "listImportedAccounts"
type Request = Parameters<Operations["query"]["listAllAccountImports"]>[0]
type Filters = Omit<NonNullable<Request["query"]>, "limit" | "after">
type Failure =
  Operations["query"]["listAllAccountImports"] extends Operation<never, unknown, infer E>
    ? E
    : never

type List<Id extends ListId> = (
  import_supplier: string,
  filters?: Filters
) => Stream.Stream<Answer<"query", Id> extends ReadonlyArray<infer E> ? E : never, Failure>

export interface ImportLists {
  readonly allImports: List<"listAllAccountImports">
  readonly pendingImports: List<"listPendingAccountImports">
  readonly importedAccounts: List<"listImportedAccounts">
}

const pageSize = 1_000

interface Entry {
  readonly external_account_number: string
}

const listOf =
  <E extends Entry>(
    page: (request: Request) => Effect.Effect<Answered<ReadonlyArray<E>>, Failure>
  ) =>
  (import_supplier: string, filters: Filters = {}): Stream.Stream<E, Failure> =>
    Stream.paginate(undefined as string | undefined, (after) => {
      const query = { ...filters, limit: pageSize, ...(after !== undefined && { after }) }
      return Effect.map(page({ params: { import_supplier }, query }), ({ headers, value }) => {
        const last = value.at(-1)
        const hasMore = headers["link"]?.includes('rel="next"') === true && last !== undefined
        return [value, hasMore ? Option.some(last.external_account_number) : Option.none()]
      })
    })

export const importLists = ({ query }: Operations): ImportLists => ({
  allImports: listOf(query.listAllAccountImports.withResponse),
  pendingImports: listOf(query.listPendingAccountImports.withResponse),
  importedAccounts: listOf(query.listImportedAccounts.withResponse)
})
