/** The queries over HTTP, and the limits: each handler calls one program and wraps its answer. */
import { type DateTime, Effect, Stream } from "effect"
import { configurationBody } from "@data-import/api/ConfigurationBody"
import { type DetailField, detailsBody, importBody } from "@data-import/api/ImportBody"
import { limitsOf } from "@data-import/api/Limits"
import { BatchLimits } from "@data-import/domain/batches/BatchLimits"
import { AccountGroup, type StoredAccountBody } from "@data-import/api/AccountApi"
import type { ParametersOf } from "@data-import/api/Parameter"
import { QueryGroup } from "@data-import/api/QueryApi"
import { SystemGroup } from "@data-import/api/SystemApi"
import { formatInstant } from "@data-import/domain/schema/Field"
import { AccountQuery } from "@data-import/domain/accounts/AccountQuery"
import { ConfigurationQuery } from "@data-import/domain/suppliers/ConfigurationQuery"
import {
  type ImportList,
  ImportQuery,
  type ListRange
} from "@data-import/domain/imports/ImportQuery"
import { summaryBody } from "@data-import/domain/migrations/SummaryBody"
import { SummaryQuery } from "@data-import/domain/migrations/SummaryQuery"
import type { Failure } from "@data-import/domain/requests/Failure"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import type {
  ImportListEntry as Entry,
  ImportListKind
} from "@data-import/domain/imports/ImportProcesses"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { numberOf, supplierOf } from "@data-import/server/routing/PathNames"
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

/** The requested members of the details. */
const pick = (details: ReturnType<typeof detailsBody>, fields: ReadonlyArray<DetailField>) =>
  Object.fromEntries(fields.map((name) => [name, details[name]]))

const lineOf =
  <Kind extends ImportListKind>(fields: ReadonlyArray<DetailField>, at: DateTime.Utc) =>
  ({ account_created_at, details, ...named }: Entry) =>
    ({
      ...named,
      account_created_at: account_created_at && formatInstant(account_created_at),
      ...(details && pick(detailsBody(details, at), fields))
    }) as unknown as Lines[Kind]

/** The parameters of the next page: those of this one, with another start. */
const nextParameters = (url: string, limit: number, after: string) => ({
  ...Object.fromEntries(new URLSearchParams(url.split("?")[1])),
  limit: String(limit),
  after
})

const answerOf = <Kind extends ImportListKind>(
  list: ImportList,
  url: string,
  { fields = [], limit = 0 }: ListParameters
) => {
  const line = lineOf<Kind>(fields, list.at)
  if (list._tag === "Whole") return Answer.jsonArray(Stream.map(list.entries, line))
  const { entries, nextAfter } = list
  const headers =
    nextAfter === null ? {} : Answer.nextPage(url, nextParameters(url, limit, nextAfter))
  return Answer.page(entries, line, headers)
}

/** All lists take the same parameters. */
type ListParameters = ParametersOf<(typeof QueryGroup.endpoints)["listAllAccountImports"]>

type ListCall = Call & { readonly caller: Caller; readonly parameters: ListParameters }

const rangeOf = (parameters: ListParameters): ListRange => {
  const {
    after = null,
    fields,
    limit = null,
    staged_after: stagedAfter,
    ...conditions
  } = parameters
  const filter = { ...conditions, ...(stagedAfter && { stagedAfter }) }
  if (fields === undefined && Object.keys(filter).length === 0) return { after, limit }
  const withAttempts = fields?.includes("attempts") === true
  const details = withAttempts ? "with attempts" : fields ? "without attempts" : "none"
  return { after, limit, detailed: { filter, details } }
}

export const routes = Effect.gen(function* () {
  const accounts = yield* AccountQuery
  const configurations = yield* ConfigurationQuery
  const imports = yield* ImportQuery
  const summaries = yield* SummaryQuery
  const batchLimits = yield* BatchLimits
  const list =
    <Kind extends ImportListKind>(kind: Kind) =>
    (call: ListCall) =>
      Effect.gen(function* () {
        const { caller, parameters, request } = call
        const range = rangeOf(parameters)
        const found = yield* imports.list(caller, supplierOf(call), kind, range)
        return yield* answerOf<Kind>(found, request.url, parameters)
      })

  return [
    ...Route.handle(QueryGroup, {
      getAccountImportStatus: (call) =>
        Effect.map(imports.status(call.caller, supplierOf(call), numberOf(call)), (record) =>
          Answer.json(200, record)
        ),
      getImport: (call) =>
        Effect.map(
          imports.details(call.caller, supplierOf(call), numberOf(call)),
          ({ at, details }) => Answer.json(200, importBody(details, at))
        ),
      getSupplierSummary: (call) =>
        Effect.map(
          summaries.read(call.caller, supplierOf(call), call.parameters.cohort ?? null),
          (read) => Answer.json(200, summaryBody(read))
        ),
      getSupplierConfiguration: (call) =>
        Effect.map(configurations.read(call.caller, supplierOf(call)), (read) =>
          Answer.json(200, configurationBody(read))
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
