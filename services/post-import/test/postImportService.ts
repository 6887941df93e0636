/** The running post-import service on a separate database, and helpers for its tests. */
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as AccountImport from "@data-import/domain/imports/AccountImport"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import type { Wire } from "@data-import/domain/testing/wire"
import { layerWith as documentsIn } from "@data-import/documents/FileSystemDocuments"
import { portsBeside, team } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { post, Premises, running } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as hashing } from "@data-import/server/Hashing"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { layer as postImport } from "../src/PostImport.ts"
import * as ScriptedVendor from "./scriptedVendor.ts"

export const paths = {
  notes: "/v1/data-import/notes/create/",
  transactions: "/v1/data-import/transactions/create/",
  statements: "/v1/data-import/historical-statements/create/",
  instruction: "/v1/data-import/payment-instruction/create/"
}

const imports = Layer.unwrap(
  Effect.map(Premises, ({ documents }) =>
    Layer.provide(AccountImport.layer, [documentsIn(documents), hashing])
  )
).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))

/** The service on a fresh database, with a vendor of cards. */
export const service = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshUrl
    const vendor = yield* ScriptedVendor.ScriptedVendor
    return Layer.provideMerge(imports, portsBeside(url)).pipe(
      Layer.provideMerge(
        running(postImport, {
          DATABASE_URL: Redacted.value(databaseUsersAt(url)["post-import"]),
          PAYMENT_STRIPE_URL: vendor.url,
          PAYMENT_STRIPE_KEY: "sk_test_canary"
        })
      )
    )
  })
).pipe(Layer.provideMerge(Layer.mergeAll(tokenMint, tokenSecrets, ScriptedVendor.layer)))

/** An account to which items can be added, and its owner. */
export interface Account {
  readonly tenant: Tenant
  readonly key: ImportKey
}

/** The full sample account under this key. */
const accountOf = (key: ImportKey): Wire => ({ ...domesticPayload(), ...key })

/** A minimal account: it has no documents, and no statement period was ever closed. */
export const bareAccountOf = (key: ImportKey): Wire => ({ ...key, unknown_occupier: true })

/** Stages the account, which then is pending. */
export const stageAccount = ({ tenant: { caller } }: Account, payload: Wire) =>
  Effect.flatMap(AccountImport.AccountImport, (program) => program.stage(caller, { payload }))

/** Stages the account and creates it; returns its number. */
const importAccount = Effect.fnUntraced(function* (account: Account, payload: Wire) {
  const { key, tenant } = account
  yield* stageAccount(account, payload)
  const program = yield* AccountImport.AccountImport
  const processed = { payload: { ...key, operations_team_name: team } }
  const { kraken_account_number } = yield* program.process(tenant.caller, processed)
  return kraken_account_number
})

/** An imported account of a new tenant, by default the full sample. */
export const importedAccount = Effect.fnUntraced(function* (
  payloadOf: (key: ImportKey) => Wire = accountOf,
  configured: Parameters<typeof freshTenant>[0] = {}
) {
  return yield* importedBy(yield* freshTenant(configured), payloadOf)
})

/** An imported account of this tenant. */
export const importedBy = Effect.fnUntraced(function* (
  tenant: Tenant,
  payloadOf: (key: ImportKey) => Wire = accountOf
) {
  const key = tenant.keyOf("NL-0004711")
  const number = yield* importAccount({ tenant, key }, payloadOf(key))
  return { tenant, key, number }
})

const add =
  (path: string, member: string) =>
  ({ key, tenant }: Account, elements: unknown, query = "") =>
    post(path + query, tenant.token, { ...key, [member]: elements })

export const addNotes = add(paths.notes, "notes")
export const addTransactions = add(paths.transactions, "transactions")
export const addStatements = add(paths.statements, "statements")

/** Any member may be given, even an unknown one. */
export const addInstruction = ({ key, tenant }: Account, members: Wire) =>
  post(paths.instruction, tenant.token, { ...key, vendor: "STRIPE", type: "CARD", ...members })

export type Name = keyof typeof paths
export const names = Object.keys(paths) as ReadonlyArray<Name>
/** The requests that contain a list, which has the name of the request. */
export const lists = names.filter((name) => name !== "instruction")

const samples: Readonly<Record<Name, () => Wire>> = {
  notes: notesPayload,
  transactions: transactionsPayload,
  statements: statementsPayload,
  instruction: instructionPayload
}

/** The sample request for this account. */
export const bodyOf = (name: Name, { key }: Pick<Account, "key">): Wire => ({
  ...samples[name](),
  ...key
})

/** Sends the sample request for this account, with some members altered. */
export const sendSample = (name: Name, account: Account, altered: Wire = {}) =>
  post(paths[name], account.tenant.token, { ...bodyOf(name, account), ...altered })
