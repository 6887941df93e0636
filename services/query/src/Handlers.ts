/** The queries over HTTP, and the limits: each handler calls one program and wraps its answer. */
import { Effect, Stream } from "effect"
import { limitsOf } from "@data-import/api/Limits"
import { BatchLimits } from "@data-import/domain/batch/BatchLimits"
import { AccountGroup, type StoredAccountBody } from "@data-import/api/AccountApi"
import { QueryGroup } from "@data-import/api/QueryApi"
import { SystemGroup } from "@data-import/api/SystemApi"
import { formatInstant } from "@data-import/domain/schema/Field"
import { AccountQuery } from "@data-import/domain/import/AccountQuery"
import {
  type ImportList,
  ImportQuery,
  type ListRange
} from "@data-import/domain/import/ImportQuery"
import type { Failure } from "@data-import/domain/requests/Failure"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import type {
  ImportListEntry as Entry,
  ImportListKind
} from "@data-import/domain/ports/ImportProcesses"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as Route from "@data-import/server/routing/Route"

interface Line<AccountNumber, Instant> {
  readonly external_account_number: string
  readonly kraken_account_number: AccountNumber
  readonly account_created_at: Instant
}

/** The lines of each list; the storage decides by the kind which imports have an account. */
interface Lines {
  readonly all: Line<string | null, string | null>
  readonly pending: Line<null, null>
  readonly imported: Line<string, string>
}

const lineOf = <Kind extends ImportListKind>({ account_created_at, ...named }: Entry) =>
  ({
    ...named,
    account_created_at: account_created_at && formatInstant(account_created_at)
  }) as unknown as Lines[Kind]

const answerOf = <Kind extends ImportListKind>(
  list: ImportList,
  url: string,
  limit: number | null
) => {
  if (list._tag === "Whole") return Answer.jsonArray(Stream.map(list.entries, lineOf<Kind>))
  const { entries, nextAfter } = list
  const headers =
    nextAfter === null ? {} : Answer.nextPage(url, { limit: String(limit ?? 0), after: nextAfter })
  return Effect.succeed(Answer.json(200, entries.map(lineOf<Kind>), headers))
}

/** A call of any list; all lists take the same parameters. */
type ListCall = Call & {
  readonly caller: Caller
  readonly parameters: { readonly after?: string; readonly limit?: number }
}

export const routes = Effect.gen(function* () {
  const accounts = yield* AccountQuery
  const imports = yield* ImportQuery
  const batchLimits = yield* BatchLimits
  const list =
    <Kind extends ImportListKind>(kind: Kind) =>
    ({ caller, parameters, params, request }: ListCall) =>
      Effect.gen(function* () {
        const { after = null, limit = null } = parameters
        const range: ListRange = { after, limit }
        const found = yield* imports.list(caller, params["import_supplier"] ?? "", kind, range)
        return yield* answerOf<Kind>(found, request.url, range.limit)
      })

  return [
    ...Route.handle(QueryGroup, {
      getAccountImportStatus: ({ caller, params }) =>
        Effect.map(
          imports.status(
            caller,
            params["import_supplier"] ?? "",
            params["external_account_number"] ?? ""
          ),
          (record) => Answer.json(200, record)
        ),
      listAllAccountImports: list("all"),
      listPendingAccountImports: list("pending"),
      listImportedAccounts: list("imported")
    }),
    ...Route.handle(AccountGroup, {
      getAccount: ({ caller, params }) =>
        Effect.flatMap(
          accounts.read(caller, params["kraken_account_number"] ?? ""),
          Answer.jsonParts<StoredAccountBody, Failure>
        ),
      listAccounts: ({ caller, parameters }) =>
        Effect.flatMap(accounts.readAll(caller, parameters.import_supplier), Answer.ndjsonParts)
    }),
    ...Route.handle(SystemGroup, {
      getLimits: () => Effect.succeed(Answer.json(200, limitsOf(batchLimits)))
    })
  ]
})
