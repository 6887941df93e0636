/**
 * The queries: the status and the details of an import, and the three lists of imports. They are
 * read-only. A supplier of another organisation is reported as unknown.
 * Source: docs/contract/queries.md#queries.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DetailedState } from "@data-import/domain/imports/ImportDetails"
import { ImportStatus } from "@data-import/domain/imports/ImportProcess"
import { registry } from "@data-import/domain/codes/Code"
import { listElements } from "@data-import/domain/schema/Json"
import { requires } from "./Authorization.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { createdEntry, pendingEntry, sampleNumber } from "./Examples.ts"
import { InstantText } from "./DecimalSchema.ts"
import { MethodsElsewhere, operation } from "./Operation.ts"
import { number, supplier } from "./PathParameter.ts"
import { getSupplierConfiguration } from "./ConfigurationApi.ts"
import {
  type DetailField,
  detailFields,
  detailNames,
  exampleImport,
  ImportBody
} from "./ImportBody.ts"
import { getSupplierSummary } from "./SummaryApi.ts"
import { flag, instant, oneOf, plainText, someOf, wholeNumber } from "./Parameter.ts"

/** The response of the status endpoint. The number is empty if no account exists yet. */
const ImportStatusRecord = Schema.Struct({
  status: ImportStatus.annotate({
    description:
      "COMPLETED: the account exists. IN_PROGRESS: an attempt is running. UNKNOWN: neither; " +
      "an attempt failed, or none was made."
  }),
  kraken_account_number: Schema.String.annotate({
    description: "The number of the platform account; an empty string where none exists yet."
  })
}).annotate({ identifier: "ImportStatusRecord", description: "Where one import stands." })

const externalNumber = Schema.String.annotate({
  description: "The account number at the supplier, as staged."
})

const accountNumber = "The number of the platform account"
const createdAt = "When the account was created"
const orNull = "; null where there is none yet."

/** Present only if `fields` names them. */
const details = Object.fromEntries(
  Object.entries(detailFields).map(([name, field]) => [name, Schema.optionalKey(field)])
) as { readonly [Name in DetailField]: Schema.optionalKey<(typeof detailFields)[Name]> }

const codes = Object.keys(registry)

/** An entry of the list of all imports. Both are null for an import without an account. */
const ImportListEntry = Schema.Struct({
  external_account_number: externalNumber,
  kraken_account_number: Schema.NullOr(Schema.String).annotate({
    description: accountNumber + orNull
  }),
  account_created_at: Schema.NullOr(InstantText).annotate({ description: createdAt + orNull }),
  ...details
}).annotate({ identifier: "ImportListEntry", description: "One import." })

const PendingImport = Schema.Struct({
  external_account_number: externalNumber,
  kraken_account_number: Schema.Null.annotate({ description: "Always null." }),
  account_created_at: Schema.Null.annotate({ description: "Always null." }),
  ...details
}).annotate({ identifier: "PendingImport", description: "One import without an account yet." })

const ImportedAccount = Schema.Struct({
  external_account_number: externalNumber,
  kraken_account_number: Schema.String.annotate({ description: `${accountNumber}.` }),
  account_created_at: InstantText.annotateKey({ description: `${createdAt}.` }),
  ...details
}).annotate({ identifier: "ImportedAccount", description: "One import and its account." })

/** The parameters of a list, decoded from the text in the URL. */
const ListParameters = Schema.Struct({
  limit: Schema.optionalKey(wholeNumber(1, listElements)),
  after: Schema.optionalKey(plainText),
  fields: Schema.optionalKey(someOf(detailNames)),
  state: Schema.optionalKey(oneOf(DetailedState.literals)),
  failed: Schema.optionalKey(flag),
  code: Schema.optionalKey(oneOf(codes)),
  staged_after: Schema.optionalKey(instant),
  cohort: Schema.optionalKey(plainText)
})

const listParameters = {
  import_supplier: supplier,
  limit: {
    description: "The most entries to answer; the whole list where it is omitted.",
    schema: { type: "integer", minimum: 1, maximum: listElements },
    example: 500
  },
  after: {
    description:
      "Only entries that come after this external account number, which need not exist. The list " +
      "is in code point order of the numbers.",
    schema: { type: "string" },
    example: "NL-0004710"
  },
  fields: {
    description: "What to tell of each import besides, separated by commas.",
    schema: { type: "array", items: { type: "string", enum: detailNames } },
    example: ["state", "attempts"]
  },
  state: {
    description: "Only imports in this state.",
    schema: { type: "string", enum: DetailedState.literals },
    example: "FAILED"
  },
  failed: {
    description: "With true only imports in the state FAILED, with false only others.",
    schema: { type: "boolean" },
    example: true
  },
  code: {
    description: "Only imports in the state FAILED whose latest attempt ended with this code.",
    schema: { type: "string" },
    example: "path_does_not_exist_in_file_store"
  },
  staged_after: {
    description: "Only imports that were staged last after this instant.",
    schema: { type: "string", format: "date-time" },
    example: "2025-04-17T00:00:00Z"
  },
  cohort: {
    description: "Only imports of this cohort.",
    schema: { type: "string" },
    example: "wave-3"
  }
}

const link = {
  200: {
    Link:
      'Where `limit` cut the list: `<…>; rel="next"`, the address of the next page. Follow it as ' +
      "it is; without it, the list is complete."
  }
}

const list = <const Name extends string, const Path extends `/${string}`, Entry extends Schema.Top>(
  name: Name,
  path: Path,
  entry: Entry
) =>
  HttpApiEndpoint.get(name, path, {
    params: { import_supplier: Schema.String },
    query: ListParameters,
    success: Schema.Array(entry).annotate({ description: "The list, complete or one page of it." }),
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  })

const getAccountImportStatus = HttpApiEndpoint.get(
  "getAccountImportStatus",
  "/v1/data-import/account-transfer-status/:import_supplier/:external_account_number/",
  {
    params: { import_supplier: Schema.String, external_account_number: Schema.String },
    success: ImportStatusRecord,
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  }
)
  .annotateMerge(
    operation(
      "Account import status",
      "Tells where one import stands. It answers 200 as soon as the account was staged.",
      {
        parameters: { import_supplier: supplier, external_account_number: number },
        answers: {
          200: {
            completed: {
              summary: "The account exists",
              value: { status: "COMPLETED", kraken_account_number: sampleNumber }
            },
            staged: {
              summary: "Staged only, or the last attempt failed",
              value: { status: "UNKNOWN", kraken_account_number: "" }
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))

const getImport = HttpApiEndpoint.get(
  "getImport",
  "/v1/data-import/imports/:import_supplier/:external_account_number/",
  {
    params: { import_supplier: Schema.String, external_account_number: Schema.String },
    success: ImportBody,
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  }
)
  .annotate(MethodsElsewhere, ["PATCH"])
  .annotateMerge(
    operation(
      "Get an import",
      "Tells where one import stands, what is staged, and how its latest attempts ended, with the " +
        "errors that process answered.",
      {
        parameters: { import_supplier: supplier, external_account_number: number },
        answers: {
          200: { failed: { summary: "The latest attempt failed", value: exampleImport } }
        }
      }
    )
  )
  .pipe(requires("import:read"))

const listAllAccountImports = list(
  "listAllAccountImports",
  "/v1/data-import/all-account-import-processes/:import_supplier/",
  ImportListEntry
)
  .annotateMerge(
    operation(
      "List all account imports",
      "Every import of the supplier: pending, skipped by the operator, and imported.",
      {
        parameters: listParameters,
        headers: link,
        answers: {
          200: {
            mixed: { summary: "One imported, one pending", value: [createdEntry, pendingEntry] }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))

const listPendingAccountImports = list(
  "listPendingAccountImports",
  "/v1/data-import/pending-account-import-processes/:import_supplier/",
  PendingImport
)
  .annotateMerge(
    operation(
      "List pending imports",
      "The imports that are staged and have no account yet, without those that the operator skips.",
      {
        parameters: listParameters,
        headers: link,
        answers: { 200: { pending: { summary: "One pending import", value: [pendingEntry] } } }
      }
    )
  )
  .pipe(requires("import:read"))

const listImportedAccounts = list(
  "listImportedAccounts",
  "/v1/data-import/imported-account-import-processes/:import_supplier/",
  ImportedAccount
)
  .annotateMerge(
    operation("List imported accounts", "The imports that have a platform account.", {
      parameters: listParameters,
      headers: link,
      answers: { 200: { imported: { summary: "One account", value: [createdEntry] } } }
    })
  )
  .pipe(requires("import:read"))

/** What the query service serves. */
export const QueryGroup = HttpApiGroup.make("query", { topLevel: true })
  .add(
    getAccountImportStatus,
    getImport,
    getSupplierSummary,
    getSupplierConfiguration,
    listAllAccountImports,
    listPendingAccountImports,
    listImportedAccounts
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Queries",
      description:
        "The state of the migration: one account, or the lists and the summary of a supplier."
    })
  )
