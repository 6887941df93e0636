/**
 * The entry point for other teams: validation of an account before it is sent, with its codes and
 * types. Programs, ports and contract suites have separate entry points; see the README.
 */
export { type Account, type AccountInput, encodeAccount } from "./accounts/Account.ts"
export { type Code, type FieldCode, registry, type RequestCode } from "./codes/Code.ts"
export { type CodeEntry, type ErrorParameters } from "./codes/CodeEntry.ts"
export { type TimeZone, timeZoneNamed } from "./suppliers/BusinessDay.ts"
export { type FieldError } from "./schema/FieldErrors.ts"
export { NotJson, parse } from "./schema/Json.ts"
export { isRawNumber, type RawNumber } from "./schema/RawNumber.ts"
export { validateAccount, validateUnknownAccount } from "./accounts/AccountValidation.ts"
