/** The account creation flow over HTTP: each handler calls one program and wraps its answer. */
import { Effect } from "effect"
import { AccountImportGroup } from "@data-import/api/AccountImportApi"
import { encodeAccount } from "@data-import/domain/Account"
import { AccountImport } from "@data-import/domain/AccountImport"
import * as Answer from "@data-import/server/Answer"
import { writing } from "@data-import/server/Idempotency"
import * as Route from "@data-import/server/Route"

export const routes = Effect.gen(function* () {
  const accountImport = yield* AccountImport
  const write = yield* writing

  return Route.handle(AccountImportGroup, {
    validateAccount: ({ body, caller, parameters }) =>
      Effect.map(accountImport.validate(caller, body, Route.faultsIn(parameters)), (account) =>
        Answer.json(200, encodeAccount(account))
      ),
    stageAccount: write(
      ({ body, caller, keep, parameters }) =>
        accountImport.stage(caller, body, keep, Route.faultsIn(parameters)),
      ({ first, key }) => ({ status: first ? 201 : 200, body: key })
    ),
    processAccount: write(
      ({ body, caller, keep, parameters }) =>
        accountImport.process(caller, body, keep, Route.faultsIn(parameters)),
      (created) => ({ status: 201, body: created })
    )
  })
})
