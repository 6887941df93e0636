/** The account creation flow over HTTP: each handler calls one program and wraps its answer. */
import { Effect } from "effect"
import { AccountImportGroup } from "@data-import/api/AccountImportApi"
import { encodeAccount } from "@data-import/domain/Account"
import { AccountImport } from "@data-import/domain/AccountImport"
import * as Answer from "@data-import/server/Answer"
import * as Route from "@data-import/server/Route"

export const routes = Effect.map(AccountImport, (accountImport) =>
  Route.handle(AccountImportGroup, {
    validateAccount: ({ body, caller }) =>
      Effect.map(accountImport.validate(caller, body), (account) =>
        Answer.json(200, encodeAccount(account))
      ),
    stageAccount: ({ body, caller }) =>
      Effect.map(accountImport.stage(caller, body), ({ first, key }) =>
        Answer.json(first ? 201 : 200, key)
      ),
    processAccount: ({ body, caller }) =>
      Effect.map(accountImport.process(caller, body), (created) => Answer.json(201, created))
  })
)
