/** Imports that have become accounts, staged with their true hashes. */
import { Effect, Schema } from "effect"
import { Account, accountTextInSteps } from "../src/accounts/Account.ts"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { wireCode } from "../src/suppliers/Supplier.ts"
import { Hashing } from "../src/requests/Hashing.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { inTimeSlices } from "../src/support/Steps.ts"
import { freshSupplier, newAccountFor, noon, noonPlus } from "./freshNames.ts"
import { claim } from "./importStates.ts"

const decodeAccount = Schema.decodeUnknownSync(Account)

/** A new account of a new supplier, from these members of a payload. */
export const importedFrom = Effect.fnUntraced(function* (
  payload: object,
  of?: Effect.Success<typeof freshSupplier>
) {
  const imports = yield* ImportProcesses
  const { sha256 } = yield* Hashing
  const { caller, keyOf } = of ?? (yield* freshSupplier)
  const key: ImportKey = keyOf(`account ${crypto.randomUUID()}`)
  const account = decodeAccount({
    ...payload,
    import_supplier: wireCode(key.import_supplier),
    external_account_number: key.external_account_number
  })
  const text = yield* inTimeSlices(() => accountTextInSteps(account))
  const hash = PayloadHash.make(sha256(text))
  yield* imports.stage({ key, payload: text, hash, caller, at: noon })
  const { attempt } = yield* claim(key, caller, noon)
  const newAccount = { ...newAccountFor(key, noonPlus(20)), account }
  const completion = yield* imports.complete({ key, attempt, newAccount, caller })
  if (completion._tag !== "Completed") throw new Error(`The import is ${completion._tag}`)
  return { key, caller, hash, number: newAccount.number }
})
