/** A transaction in an answer: as it is stored, with `amount` as text with two decimals. */
import { Schema } from "effect"
import { Transaction } from "@data-import/domain/accounts/Transaction"
import { transactionParts, transactionWords } from "./AccountBody.ts"
import { AmountText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"

export const storedTransaction = documented(
  "TransactionData",
  "A transaction as stored.",
  Transaction,
  {
    ...transactionWords,
    amount: { description: "Text with two decimals.", wire: AmountText },
    display_note: {
      description:
        "A note that the customer sees. On a moved transaction it ends with the old date.",
      wire: Schema.String
    }
  },
  transactionParts
)
