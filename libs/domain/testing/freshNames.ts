/**
 * Suppliers, keys and numbers that are unique to each test, so that the contract suites can share a
 * store that already has data.
 */
import { DateTime, Effect } from "effect"
import { expect } from "@effect/vitest"
import { Configuration } from "../src/suppliers/Configuration.ts"
import type { NewAccount } from "../src/imports/ImportProcesses.ts"
import { type Account, AccountNumber, ExternalAccountNumber } from "../src/accounts/Account.ts"
import { utc } from "../src/suppliers/BusinessDay.ts"
import { AttemptId, type ImportKey } from "../src/imports/ImportProcess.ts"
import {
  type ApiKey,
  ApiKeyId,
  type Caller,
  OrganisationName,
  RequestId
} from "../src/suppliers/Organisation.ts"
import {
  codeIn,
  defaultRevertWindow,
  type Supplier,
  SupplierCode,
  wireCode
} from "../src/suppliers/Supplier.ts"

/** Random lower-case hexadecimal digits, 32 at most. */
export const hex = (digits: number): string =>
  crypto.randomUUID().replaceAll("-", "").slice(-digits)

/** A random SHA-256 hash. */
export const freshHash = (): string => hex(32) + hex(32)
export const freshOrganisationName = () => OrganisationName.make(`org-${hex(16)}`)
export const freshSupplierCode = () => SupplierCode.make(`S_${hex(16)}`)
export const freshAttempt = () => AttemptId.make(crypto.randomUUID())
export const freshAccountNumber = () => AccountNumber.make(`A-${hex(8).toUpperCase()}`)

/** The instant at which the tests begin. */
export const noon: DateTime.Utc = DateTime.makeUnsafe("2026-01-01T12:00:00Z")
/** This many seconds after noon. */
export const noonPlus = (seconds: number): DateTime.Utc => DateTime.add(noon, { seconds })

export const freshOrganisation = Effect.gen(function* () {
  const configuration = yield* Configuration
  return yield* configuration.createOrganisation(freshOrganisationName(), noon)
})

/** The test organisation of a live one. */
export const freshTestOrganisation = Effect.fnUntraced(function* (live: OrganisationName) {
  const configuration = yield* Configuration
  return yield* configuration.createOrganisation(freshOrganisationName(), noon, live)
})

/** The same supplier in test mode, of this organisation and with documents of its own. */
export const testSupplierOf = (
  organisation: OrganisationName,
  live: Supplier = supplierOf(organisation)
): Supplier => ({
  ...live,
  code: codeIn("test", wireCode(live.code)),
  organisation,
  documentRoot: `test/${live.code}`
})

/** An Ongoing supplier without a limit. */
export const supplierOf = (organisation: OrganisationName): Supplier => {
  const code = freshSupplierCode()
  return {
    code,
    organisation,
    status: "Ongoing",
    documentRoot: code,
    documentCheck: true,
    customerEmails: false,
    concurrencyLimit: null,
    timeZone: utc,
    revertWindow: defaultRevertWindow,
    fourEyes: false
  }
}

/** A caller of this organisation, with an API key and a request of its own. */
export const callerOf = (organisation: OrganisationName): Caller => ({
  organisation,
  apiKey: ApiKeyId.make(`key_${hex(16)}`),
  scopes: ["import:read", "import:write"],
  requestId: RequestId.make(`request-${hex(16)}`)
})

/** A live key of this organisation, with these members instead. */
export const freshApiKey = (
  organisation: OrganisationName,
  variation: Partial<ApiKey> = {}
): ApiKey => ({
  id: ApiKeyId.make(`key_${hex(24)}`),
  organisation,
  label: "nightly migration",
  scopes: ["import:read", "import:write"],
  hash: freshHash(),
  createdAt: noon,
  expiresAt: null,
  revokedAt: null,
  ...variation
})

const ownerOf = (supplier: Supplier) => ({
  supplier,
  caller: callerOf(supplier.organisation),
  keyOf: (number: string): ImportKey => ({
    import_supplier: supplier.code,
    external_account_number: ExternalAccountNumber.make(number)
  })
})

type Owner = ReturnType<typeof ownerOf>

/** A new supplier of a new organisation, a caller for it, and keys under it. */
export const freshSupplier = Effect.gen(function* () {
  const configuration = yield* Configuration
  const organisation = yield* freshOrganisation
  const supplier = supplierOf(organisation.name)
  yield* configuration.createSupplier(supplier)
  return ownerOf(supplier)
})

/** The test organisation of a live one, with the same supplier, a caller, and keys under it. */
export const sandboxOf = Effect.fnUntraced(function* ({ supplier: live }: Owner) {
  const { name } = yield* freshTestOrganisation(live.organisation)
  const supplier = testSupplierOf(name, live)
  yield* (yield* Configuration).createSupplier(supplier)
  return ownerOf(supplier)
})

/** A minimal account: its occupier is unknown, so it needs no customer. */
export const minimalAccount = (key: ImportKey): Account => ({
  import_supplier: wireCode(key.import_supplier),
  external_account_number: key.external_account_number,
  unknown_occupier: true
})

/** An account for the import, with a fresh number unless one is given. */
export const newAccountFor = (
  key: ImportKey,
  createdAt: DateTime.Utc,
  number: AccountNumber = freshAccountNumber()
): NewAccount => ({
  number,
  account: minimalAccount(key),
  operationsTeam: "Migration Team",
  documents: new Map(),
  customerEmails: false,
  createdAt
})

/** The value `count` times, as the expected answers of concurrent runs. */
export const times = <A>(count: number, value: A): ReadonlyArray<A> =>
  Array.from({ length: count }, () => value)

/** The value as JSON, independent of its form in memory. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** Expects equal values, regardless of what they cache. */
export const expectSame = (actual: unknown, expected: unknown, message?: string): void =>
  expect(plain(actual), message).toStrictEqual(plain(expected))
