/**
 * The bodies of validate, stage and process, and the account payload itself, with their validators.
 * Other teams validate offline with `validateAccount`. It has the same rules and codes as the
 * service, without the service's data (suppliers, documents, added code list values).
 */
import { type DateTime, type Result, Schema } from "effect"
import {
  Account,
  type AccountInput,
  accountRules,
  ExternalAccountNumber,
  SupplierCodeField
} from "./Account.ts"
import { businessDay, type TimeZone, utc } from "../suppliers/BusinessDay.ts"
import { noCodeLists } from "../schema/CodeLists.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { nonBlankText } from "../schema/Field.ts"
import { EmptyObject } from "../schema/JsonObject.ts"
import { type Facts, supplierExists } from "../schema/Rules.ts"
import { validator } from "../schema/Validator.ts"

/** A name for a group of imports, to filter by. */
export const Cohort = nonBlankText(64)

/** The body of validate and stage. Validate checks the cohort and ignores it. */
export const AccountRequest = Schema.Struct({
  payload: Account,
  cohort: Schema.optionalKey(Cohort)
})
export type AccountRequest = typeof AccountRequest.Type

/**
 * The payload of process: a staged account, the team that will own it, and whether to do a dry run.
 */
export const ProcessPayload = Schema.Struct({
  import_supplier: SupplierCodeField,
  external_account_number: ExternalAccountNumber,
  operations_team_name: nonBlankText(128),
  dry_run: Schema.optionalKey(Schema.Boolean)
})
export type ProcessPayload = typeof ProcessPayload.Type

/** A line of a PROCESS batch. The team and whether it is a dry run are settings of the batch. */
const ProcessLine = Schema.Struct({
  import_supplier: SupplierCodeField,
  external_account_number: ExternalAccountNumber
})

/** The body of process; `task_params` takes no members. */
export const ProcessRequest = Schema.Struct({
  payload: ProcessPayload,
  task_params: Schema.optionalKey(EmptyObject)
})
export type ProcessRequest = typeof ProcessRequest.Type

export const accountRequest = validator({
  schema: AccountRequest,
  rules: accountRules,
  wrapper: "payload"
})

export const processRequest = validator({
  schema: ProcessRequest,
  rules: { rules: [supplierExists] },
  wrapper: "payload"
})

export const processLineRequest = validator({
  schema: Schema.Struct({ payload: ProcessLine }),
  rules: { rules: [supplierExists] },
  wrapper: "payload"
})

export const account = validator({ schema: Account, rules: accountRules, wrapper: null })

/** The facts at `now` without lookups of the supplier and its documents. */
export const factsAt = (now: DateTime.Utc, timeZone: TimeZone = utc): Facts => ({
  now,
  today: businessDay(now, timeZone),
  codeLists: noCodeLists,
  supplierExists: true,
  missingDocuments: new Set()
})

/**
 * Validates an account payload (parsed JSON, without the `payload` wrapper) as of `now`, on the
 * business day in the supplier's time zone. Succeeds with the normalised account. Fails with all
 * errors in payload order, or with 1,000 of them if there are more.
 */
export const validateUnknownAccount = (
  payload: unknown,
  now: DateTime.Utc,
  timeZone: TimeZone = utc
): Result.Result<Account, ReadonlyArray<FieldError>> =>
  account.validate(payload, factsAt(now, timeZone))

/**
 * Like `validateUnknownAccount`, for an account written in TypeScript.
 * @public for other teams, who import it from the package
 */
export const validateAccount = (
  payload: AccountInput,
  now: DateTime.Utc,
  timeZone?: TimeZone
): Result.Result<Account, ReadonlyArray<FieldError>> =>
  validateUnknownAccount(payload, now, timeZone)
