/** The account creation flow over HTTP: each handler calls one program and wraps its answer. */
import { Effect, Result } from "effect"
import { AccountImportGroup } from "@data-import/api/AccountImportApi"
import { importBody } from "@data-import/api/ImportBody"
import { revertBody } from "@data-import/api/RevertApi"
import { type Account, accountTextInSteps } from "@data-import/domain/accounts/Account"
import { AccountImport, type StagingParameters } from "@data-import/domain/imports/AccountImport"
import { DocumentUpload } from "@data-import/domain/documents/DocumentUpload"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { formatInstant } from "@data-import/domain/schema/Field"
import { SandboxReset } from "@data-import/domain/sandbox/SandboxReset"
import { ImportChange } from "@data-import/domain/imports/ImportChange"
import { ImportRevert } from "@data-import/domain/imports/ImportRevert"
import * as Answer from "@data-import/server/http/Answer"
import { type WriteCall, writing } from "@data-import/server/routing/IdempotencyHeader"
import { numberOf, supplierOf } from "@data-import/server/routing/PathNames"
import * as Route from "@data-import/server/routing/Route"

interface SentParameters {
  readonly create_only?: boolean
}

const withDefaults = ({ create_only = false }: SentParameters): StagingParameters => ({
  createOnly: create_only
})

const namesOf = ({ external_account_number, import_supplier }: ImportKey) => ({
  import_supplier: wireCode(import_supplier),
  external_account_number
})

export const routes = Effect.gen(function* () {
  const accountImport = yield* AccountImport
  const documentUpload = yield* DocumentUpload
  const importChange = yield* ImportChange
  const importRevert = yield* ImportRevert
  const sandboxReset = yield* SandboxReset
  const write = yield* writing

  return Route.handle(AccountImportGroup, {
    validateAccount: ({ body, caller, parameters }) =>
      accountImport
        .validate(caller, body, Route.parameterErrors(parameters))
        .pipe(
          Effect.flatMap((account) =>
            Answer.success(
              Answer.written<typeof Account.Encoded>(200, () => accountTextInSteps(account))
            )
          )
        ),
    stageAccount: write(
      ({ body, caller, recorder, parameters }: WriteCall<SentParameters>) =>
        accountImport.stage(caller, body, recorder, Result.map(parameters, withDefaults)),
      ({ first, hash, key }) => Answer.small(first ? 201 : 200, namesOf(key), { etag: `"${hash}"` })
    ),
    changeImport: (call) =>
      Effect.map(
        importChange.change(
          call.caller,
          { import_supplier: supplierOf(call), external_account_number: numberOf(call) },
          call.body,
          Route.parameterErrors(call.parameters)
        ),
        ({ at, details }) => Answer.json(200, importBody(details, at))
      ),
    revertImport: write(
      (call: WriteCall) =>
        importRevert.revert(
          call.caller,
          { import_supplier: supplierOf(call), external_account_number: numberOf(call) },
          call.body,
          call.recorder,
          Route.parameterErrors(call.parameters)
        ),
      (reverted) => Answer.small(200, revertBody(reverted))
    ),
    processAccount: write(
      ({ body, caller, recorder, parameters }) =>
        accountImport.process(caller, body, recorder, Route.parameterErrors(parameters)),
      (created) => Answer.small(201, created)
    ),
    createDocumentUpload: ({ body, caller, parameters }) =>
      documentUpload
        .grant(caller, body, Route.parameterErrors(parameters))
        .pipe(
          Effect.map((granted) =>
            Answer.json(201, { ...granted, expires_at: formatInstant(granted.expires_at) })
          )
        ),
    resetSandbox: write(
      ({ caller, recorder, parameters }: WriteCall) =>
        Effect.andThen(Route.orRefuse(parameters), sandboxReset.reset(caller, recorder)),
      (deleted) => Answer.small(200, deleted)
    )
  })
})
