/** Short functions that validate a payload, for tables of rules with expected errors. */
import { Result } from "effect"
import { encodeAccount } from "../src/accounts/Account.ts"
import {
  account,
  accountRequest,
  factsAt,
  processRequest,
  validateUnknownAccount
} from "../src/accounts/AccountValidation.ts"
import type { FieldError } from "../src/schema/FieldErrors.ts"
import * as Json from "../src/schema/Json.ts"
import type { Facts } from "../src/schema/Rules.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { drop, get, put, putAll, type Wire } from "../testing/wire.ts"

/**
 * The sample payload with every path set to its value. With other ledgers it has no transfer
 * balance, which would be their sum.
 */
export const sampleWith = (values: Wire): Wire => {
  const hasLedgers = Object.keys(values).some((path) => /^ledgers\b/.test(path))
  const sample = domesticPayload()
  return putAll(hasLedgers ? drop(sample, "transfer_balance") : sample, values)
}

/** `attr code` of every error, in the order reported; empty for a valid payload. */
type ErrorLines = ReadonlyArray<string>

const errorLines = (result: Result.Result<unknown, ReadonlyArray<FieldError>>): ErrorLines =>
  Result.isSuccess(result) ? [] : result.failure.map(({ attr, code }) => `${attr} ${code}`)

/** Validates an account payload as of the time of the samples. */
export const errorsIn = (payload: unknown): ErrorLines =>
  errorLines(validateUnknownAccount(payload, sampleTime))

/** The account as it would be stored; throws the errors of one that is not valid. */
export const accept = (payload: unknown): Wire => {
  const errors = errorsIn(payload)
  if (errors.length > 0) throw new Error(`Not valid: ${errors.join(", ")}`)
  return encodeAccount(Result.getOrThrow(validateUnknownAccount(payload, sampleTime)))
}

/** Validates an account payload with other facts than the usual ones. */
export const errorsWith = (facts: Partial<Facts>, payload: unknown): ErrorLines =>
  errorLines(account.validate(payload, { ...factsAt(sampleTime), ...facts }))

/** Validates an account payload sent as this text. */
export const errorsInText = (text: string): ErrorLines =>
  errorsIn(Result.getOrThrow(Json.parse(text)))

/** Validates the whole body of validate or stage. */
export const errorsInRequest = (body: unknown, facts: Partial<Facts> = {}): ErrorLines =>
  errorLines(accountRequest.validate(body, { ...factsAt(sampleTime), ...facts }))

/** Validates the whole body of process. */
export const errorsInProcess = (body: unknown, facts: Partial<Facts> = {}): ErrorLines =>
  errorLines(processRequest.validate(body, { ...factsAt(sampleTime), ...facts }))

/** The codes of the errors at the path, in the sample with this value at the path. */
export const codesAt = (path: string, value: unknown): ReadonlyArray<string> =>
  errorsIn(put(domesticPayload(), path, value)).map((error) =>
    error.startsWith(`${path} `) ? error.slice(path.length + 1) : `elsewhere: ${error}`
  )

/** The stored value at the path, of the sample with this value at the path. */
export const storedAt = (path: string, value: unknown): unknown =>
  get(accept(put(domesticPayload(), path, value)), path)
