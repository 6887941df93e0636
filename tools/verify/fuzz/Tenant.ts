/**
 * What the fuzzer sets up in the local run besides the demo tenant: suppliers, keys and accounts in
 * every state, under names that are the same in every run.
 */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { ExternalAccountNumber, accountTextInSteps } from "@data-import/domain/accounts/Account"
import {
  type ApiKey,
  type Caller,
  OrganisationName,
  RequestId,
  type Scope
} from "@data-import/domain/suppliers/Organisation"
import { AttemptId, type ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import type { Client } from "@data-import/testbed/Client"
import * as Clients from "@data-import/testbed/Client"
import { type LocalRun } from "@data-import/testbed/LocalRun"
import { supplierOf, team } from "@data-import/testbed/Tenants"
import { tokenFor } from "@data-import/testbed/Tokens"
import { newAccountFor } from "@data-import/domain/testing/freshNames"
import { domesticAccount, domesticPayload } from "@data-import/domain/testing/samples"
import { finish } from "@data-import/domain/support/Steps"
import { placesIn } from "@data-import/operator/DataDirectory"
import { borrow } from "@data-import/operator/LocalDatabase"
import { decode } from "@data-import/local/DemoFile"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { ConfigProvider, Data, DateTime, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { holdBatches } from "./BatchSetup.ts"
import type { Secrets, Who } from "./Case.ts"
import { holdCertificate } from "./CertificateSetup.ts"
import { holdEvents } from "./EventSetup.ts"
import { holdKeys } from "./HeldKeys.ts"
import {
  supplier,
  fullSupplier,
  hiddenSupplier,
  readSupplier,
  readAccount,
  absentVendor,
  stagePath,
  processPath,
  imported,
  staged,
  dryRun,
  skipped,
  erased,
  held
} from "./TenantNames.ts"
import type { Target } from "./Wire.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

export interface Tenant {
  readonly target: Target
  readonly secrets: Secrets
  /** Secrets that no answer may reveal. */
  readonly secretsOfRun: () => ReadonlyArray<string>
}

class SetUpFailed extends Data.TaggedError("SetUpFailed")<{ readonly message: string }> {}

/** Sends a request until its answer is final, which has to be a success. */
const ask = Effect.fnUntraced(function* (
  client: Client,
  path: string,
  body: unknown,
  token: string
) {
  const { answer } = yield* client.settle({ method: "POST", path, body, token }, () => {})
  if (answer.status < 300) return
  const message = `POST ${path} → ${answer.status} ${JSON.stringify(answer.json)}`
  return yield* new SetUpFailed({ message })
})

const demo = OrganisationName.make("demo")

const keyOf = (scopes: ReadonlyArray<Scope>) =>
  issueKey({ organisation: demo, label: "fuzz", scopes, expiresAt: null })

const setUp = Effect.gen(function* () {
  const configuration = yield* Configuration
  yield* configuration.createSupplier(supplierOf(supplier, demo))
  yield* configuration.createSupplier(supplierOf(fullSupplier, demo, { concurrencyLimit: 0 }))
  yield* configuration.createSupplier(supplierOf(hiddenSupplier, demo))
  yield* configuration.createSupplier(supplierOf(readSupplier, demo))
  yield* configuration.addCode("vendor", absentVendor)
  return { reader: yield* keyOf(["import:read"]), writer: yield* keyOf(["import:write"]) }
})

const importOf = (number: string, of = supplier) => ({
  import_supplier: SupplierCode.make(of),
  external_account_number: ExternalAccountNumber.make(number)
})

const callerWith = (key: ApiKey): Caller => ({
  organisation: demo,
  apiKey: key.id,
  scopes: key.scopes,
  requestId: RequestId.make("fuzz")
})

/** Claims an import for this long. */
const claim = Effect.fnUntraced(function* (
  key: ImportKey,
  caller: Caller,
  lease: Duration.Duration
) {
  const imports = yield* ImportProcesses
  const attempt = AttemptId.make(randomUUID())
  const limits = { deployment: null, supplier: null }
  const at = yield* DateTime.now
  yield* imports.claim({ key, attempt, dryRun: false, lease, limits, caller, at })
  return { attempt, at }
})

/** Imports the sample under the number of `readAccount`. */
const importRead = Effect.fnUntraced(function* (caller: Caller) {
  const imports = yield* ImportProcesses
  const key = importOf(imported[0] ?? "", readSupplier)
  const account = domesticAccount(key)
  const payload = finish(accountTextInSteps(account))
  yield* imports.stage({ key, payload, hash: stagedHash, caller, at: yield* DateTime.now })
  const { at, attempt } = yield* claim(key, caller, Duration.minutes(1))
  const newAccount = { ...newAccountFor(key, at, readAccount), account, operationsTeam: team }
  yield* imports.complete({ key, attempt, newAccount, caller })
})

/** Brings imports into states that no request causes, or none that lasts. */
const arrange = Effect.fnUntraced(function* (key: ApiKey) {
  const imports = yield* ImportProcesses
  const caller = callerWith(key)
  yield* imports.setSkipped({ key: importOf(skipped), skipped: true, at: yield* DateTime.now })
  yield* (yield* Erasures).erase({ key: importOf(erased), at: yield* DateTime.now })
  yield* claim(importOf(held), caller, Duration.days(7))
  yield* importRead(caller)
})

const fill = Effect.fnUntraced(function* (client: Client, token: string) {
  const stage = (import_supplier: string, external_account_number: string) => {
    const payload = { ...domesticPayload(), import_supplier, external_account_number }
    return ask(client, stagePath, { payload }, token)
  }
  yield* stage(fullSupplier, staged)
  for (const number of [staged, dryRun, skipped, held, erased, ...imported]) {
    yield* stage(supplier, number)
  }
  for (const external_account_number of [erased, ...imported]) {
    const payload = { import_supplier: supplier, external_account_number }
    yield* ask(client, processPath, { payload: { ...payload, operations_team_name: team } }, token)
  }
})

/** Tokens live for an hour, and a run may take longer. */
const renewedAfter = Duration.minutes(30)

const tokens = (client: Client, keys: Readonly<Record<Exclude<Who, "nobody">, string>>) => {
  const known = new Map<Who, string>()
  const renew = Effect.forEach(Object.entries(keys), ([who, key]) =>
    Effect.map(tokenFor(client, key), (token) => known.set(who as Who, token))
  )
  return { renew, tokenOf: (who: Who) => known.get(who) ?? null, all: () => [...known.values()] }
}

/** Sets everything up in a local run that has just started. */
export const make = Effect.fnUntraced(function* ({ baseUrl, dataDir }: LocalRun) {
  const port = Number(new URL(baseUrl).port)
  const file = yield* decode(readFileSync(placesIn(dataDir).demo, "utf8"))
  const { url } = yield* borrow.pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({ DATA_DIR: dataDir })
    )
  )
  const storage = yield* Layer.build(DatabaseAccess.layerOperator(url))
  const { reader, writer } = yield* Effect.provide(setUp, storage)
  const client = yield* Clients.make(port)
  const apiKeys = {
    demo: file.apiKey,
    rival: file.rivalApiKey,
    reader: reader.secret,
    writer: writer.secret,
    tester: file.testApiKey ?? file.apiKey
  }
  const { all, renew, tokenOf } = tokens(client, apiKeys)
  yield* renew
  yield* fill(client, tokenOf("demo") ?? "")
  yield* Effect.provide(arrange(writer.key), storage)
  yield* Effect.provide(holdKeys(demo), storage)
  yield* Effect.provide(holdBatches(client, tokenOf("demo") ?? ""), storage)
  yield* Effect.provide(holdEvents(demo), storage)
  yield* Effect.provide(holdCertificate(demo, supplier), storage)
  yield* Effect.repeat(Effect.delay(renew, renewedAfter), Schedule.forever).pipe(
    Effect.tapCause((cause) => Effect.logError("the tokens were not renewed", cause)),
    Effect.forkScoped
  )
  const tenant: Tenant = {
    target: { port, tokenOf },
    secrets: { apiKey: file.apiKey },
    secretsOfRun: () => [...Object.values(apiKeys), ...all(), Redacted.value(url)]
  }
  return tenant
})
