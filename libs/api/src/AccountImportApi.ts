/**
 * The account creation flow: validate, stage, process. The handlers read and validate the bodies,
 * in the contract's order of checks. The schemas here are documentation.
 * Source: docs/contract/import.md#creating-an-account.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ChangeRequest } from "@data-import/domain/imports/ImportChange"
import { ProcessPayload } from "@data-import/domain/accounts/AccountValidation"
import { AccountBody, keyWords } from "./AccountBody.ts"
import { requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createDocumentUpload } from "./DocumentUploadApi.ts"
import { anyBody, anyKeyed, anyProtected, errorBodies } from "./ErrorBody.ts"
import { exampleAccount } from "@data-import/domain/accounts/ExampleAccount"
import {
  dryRunRequest,
  processRequest,
  sampleKey,
  sampleNumber,
  validatedAccount
} from "./Examples.ts"
import { exampleImport, ImportBody } from "./ImportBody.ts"
import { created, KeyRefusal, MethodsElsewhere, operation } from "./Operation.ts"
import { number, supplier } from "./PathParameter.ts"
import { flag } from "./Parameter.ts"
import { revertImport } from "./RevertApi.ts"
import { resetSandbox } from "./SandboxApi.ts"

const AccountRequestBody = Schema.Struct({
  payload: AccountBody.annotateKey({ description: "The account." }),
  cohort: Schema.optionalKey(
    Schema.String.annotate({ minLength: 1, maxLength: 64, examples: ["wave-3"] })
  ).annotateKey({
    description:
      "A name for a group of imports, by which lists and batches select them. An account that is " +
      "staged again without it keeps the one it has. Validate checks it and ignores it."
  })
}).annotate({ identifier: "AccountRequest", description: "An account to validate or to stage." })

const ProcessRequestBody = Schema.Struct({
  payload: documented("ProcessPayload", "What to process, and how.", ProcessPayload, {
    ...keyWords,
    operations_team_name: {
      description: "The team that takes the account over; it must exist.",
      examples: ["Migration Team"]
    },
    dry_run: {
      description:
        "Whether only to rehearse: everything is done and rolled back, and a success is the 400 " +
        "`dry_run_successful`.",
      default: false
    }
  }),
  task_params: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Never).annotate({ description: "Takes no members." })
  )
}).annotate({ identifier: "ProcessRequest", description: "A staged account to process." })

/** The response of stage, and the pair that identifies an import. */
const ImportKeyBody = Schema.Struct({
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  external_account_number: Schema.String.annotate({
    description: "The account number at the supplier."
  })
}).annotate({ identifier: "ImportKey", description: "What identifies an import." })

const CreatedAccount = Schema.Struct({
  kraken_account_number: Schema.String.annotate({
    description: "The number of the platform account: `A-` and 8 hexadecimal digits, never reused.",
    examples: [sampleNumber]
  })
}).annotate({ identifier: "CreatedAccount", description: "The platform account." })

const anyProcess = [
  "account_failed_validation",
  "account_import_process_already_imported",
  "account_import_process_skipped",
  "account_import_process_erased",
  "account_import_process_in_progress",
  "import_supplier_migration_not_ongoing"
] as const

const accountExample = {
  domestic: { summary: "A domestic account", value: { payload: exampleAccount } }
}

const validateAccount = HttpApiEndpoint.post(
  "validateAccount",
  "/v1/data-import/validate-account/",
  {
    payload: AccountRequestBody,
    success: AccountBody,
    error: errorBodies(["account_failed_validation", ...anyBody, ...anyProtected])
  }
)
  .annotateMerge(
    operation(
      "Validate an account",
      "Checks an account payload against every rule, stores nothing, and answers the account as it " +
        "would be stored: text trimmed, the country in capitals, nothing added or dropped, each " +
        "transaction's amount as text with two decimals. It does not look at what is staged or " +
        "imported, and answers for a supplier that is not Ongoing as well.",
      {
        requests: accountExample,
        answers: {
          200: { domestic: { summary: "The account as sent is valid", value: validatedAccount } }
        }
      }
    )
  )
  .pipe(requires("import:read"))

/** Decoded from the text in the URL. */
const StagingParameters = Schema.Struct({ create_only: Schema.optionalKey(flag) })

const payloadHash =
  "The hash of the staged payload in double quotes: SHA-256 of its canonical JSON, in lower-case " +
  "hexadecimal."

const stageAccount = HttpApiEndpoint.post(
  "stageAccount",
  "/v1/data-import/account-import-process/create-or-update/",
  {
    query: StagingParameters,
    payload: AccountRequestBody,
    success: [created(ImportKeyBody), ImportKeyBody],
    error: errorBodies([
      ...anyProcess,
      "import_process_differs",
      ...anyKeyed,
      ...anyBody,
      ...anyProtected
    ])
  }
)
  .annotate(KeyRefusal, "account_failed_validation")
  .annotateMerge(
    operation(
      "Stage an account",
      "Validates the account with the same rules as validate and stores it; no platform account is " +
        "created. The same account may be staged any number of times: 201 the first time, then 200, " +
        "and the last one counts. With `create_only` staged data is never replaced.",
      {
        parameters: {
          create_only: {
            description:
              "Whether staged data is kept. With true, another payload under a staged number is the " +
              "409 `import_process_differs`, and the same one is 200 and changes nothing.",
            schema: { type: "boolean", default: false },
            example: true
          }
        },
        headers: { 200: { ETag: payloadHash }, 201: { ETag: payloadHash } },
        requests: accountExample,
        answers: {
          200: { again: { summary: "The staged data is replaced", value: sampleKey } },
          201: { first: { summary: "Staged for the first time", value: sampleKey } }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const processAccount = HttpApiEndpoint.post(
  "processAccount",
  "/v1/data-import/account-import-process/process/",
  {
    payload: ProcessRequestBody,
    success: created(CreatedAccount),
    error: errorBodies([
      ...anyProcess,
      "import_process_does_not_exist",
      "operations_team_name_does_not_exist",
      "dry_run_successful",
      "concurrency_limit_exceeded",
      "account_reverted",
      ...anyKeyed,
      ...anyBody,
      ...anyProtected
    ])
  }
)
  .annotate(KeyRefusal, "account_failed_validation")
  .annotateMerge(
    operation(
      "Create an account",
      "Creates the platform account from the staged data, all of it or nothing, under the named " +
        "operations team. A repeat after a success is a 400 that names the account, so that a retry " +
        "is safe. With `dry_run` everything is rolled back.",
      {
        requests: {
          create: { summary: "Create the account", value: processRequest },
          rehearse: { summary: "Only rehearse", value: dryRunRequest }
        },
        answers: {
          201: {
            created: { summary: "Created", value: { kraken_account_number: sampleNumber } }
          }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const ChangeRequestBody = documented(
  "ImportChange",
  "What to change of a pending import.",
  ChangeRequest,
  {
    cohort: { description: "The cohort, 1 to 64 characters; null for none.", examples: ["wave-4"] }
  }
)

const changeImport = HttpApiEndpoint.patch(
  "changeImport",
  "/v1/data-import/imports/:import_supplier/:external_account_number/",
  {
    params: { import_supplier: Schema.String, external_account_number: Schema.String },
    payload: ChangeRequestBody,
    success: ImportBody,
    error: errorBodies([
      "request_failed_validation",
      "import_supplier_migration_not_ongoing",
      "account_import_process_already_imported",
      "account_import_process_skipped",
      "account_import_process_erased",
      "account_import_process_in_progress",
      "not_found",
      ...anyBody,
      ...anyProtected
    ])
  }
)
  .annotate(MethodsElsewhere, ["GET", "HEAD"])
  .annotateMerge(
    operation(
      "Change an import",
      "Gives a pending import another cohort, or none, and answers the import. A failed import is " +
        "pending. The same change again changes nothing.",
      {
        parameters: { import_supplier: supplier, external_account_number: number },
        requests: { cohort: { summary: "Another cohort", value: { cohort: "wave-3" } } },
        answers: { 200: { changed: { summary: "The import", value: exampleImport } } }
      }
    )
  )
  .pipe(requires("import:write"))

/** What the account-import service serves. */
export const AccountImportGroup = HttpApiGroup.make("accountImport", { topLevel: true })
  .add(
    validateAccount,
    stageAccount,
    processAccount,
    changeImport,
    revertImport,
    createDocumentUpload,
    resetSandbox
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Account creation",
      description:
        "Validate an account, stage it, and create the platform account from it. Upload the documents " +
        "that it names. Empty the sandbox."
    })
  )
