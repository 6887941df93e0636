import { expect, it } from "vitest"
import { fieldInWords } from "../src/accounts/FieldWords.ts"

it.each([
  ["ledgers.0.transactions.12.amount", "Ledger 1, transaction 13, amount"],
  ["ledgers.*.transactions.*.amount", "Ledger, transaction, amount"],
  ["non_field_errors", "The account as a whole"],
  ["date_of_birth", "Date of birth"]
])("%s in words is %s", (path, words) => expect(fieldInWords(path)).toBe(words))
