/**
 * The example account as a supplier sends it, its decoded form, and the requests that add further
 * data to it. Functions, so that each test gets its own copy.
 */
import { DateTime, Result } from "effect"
import type { Account } from "../src/accounts/Account.ts"
import { exampleAccount } from "../src/accounts/ExampleAccount.ts"
import * as Requests from "../src/additions/ExampleRequests.ts"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"

/** The instant as of which the samples are valid. */
export const sampleTime = DateTime.makeUnsafe("2026-01-15T12:00:00Z")

/** The payload on the wire, not wrapped in `payload`. */
export const domesticPayload = () => structuredClone(exampleAccount)

/** The decoded account of `domesticPayload`, under another number or supplier if given. */
export const domesticAccount = (
  key: { readonly import_supplier?: string; readonly external_account_number?: string } = {}
): Account =>
  Result.getOrThrow(validateUnknownAccount({ ...domesticPayload(), ...key }, sampleTime))

export const notesPayload = () => structuredClone(Requests.notesRequest)
export const transactionsPayload = () => structuredClone(Requests.transactionsRequest)
export const statementsPayload = () => structuredClone(Requests.statementsRequest)
export const instructionPayload = () => structuredClone(Requests.instructionRequest)
