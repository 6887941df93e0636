/**
 * Erases a customer. This cannot be undone, so it needs an explicit flag; without it, the command
 * shows what would be erased.
 * Source: docs/contract/operator.md#erasure.
 */
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { type Erased, Erasures, type Erasing } from "@data-import/domain/erasure/Erasures"
import { DateTime, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { inEnglish, plain, say } from "@data-import/terminal/Answer"
import { importArguments } from "./ImportArguments.ts"
import { importMeant, noSupplier } from "./Mode.ts"
import { flag } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const refusal = (erasing: Exclude<Erasing, Erased>): string => {
  if (erasing._tag === "InBatch") {
    return (
      `the batch ${erasing.batch} has a line of it that has not ended. ` +
      "Let the batch end, or cancel it, and try again"
    )
  }
  return erasing.found === null
    ? "nothing is staged for it"
    : "it is being processed right now; try again when that has ended"
}

/** The paths in the bucket. */
const documentsIn = Effect.fnUntraced(function* (
  { import_supplier: code }: ImportKey,
  { documents }: Erased
) {
  const supplier = yield* (yield* Configuration).supplier(code)
  if (Option.isNone(supplier)) return yield* noSupplier(code)
  const root = supplier.value.documentRoot.replace(/^\/|\/$/g, "")
  return documents.map((path) => `${root}/${path}`)
})

const list = (title: string, lines: ReadonlyArray<string>): string =>
  lines.length === 0 ? "" : `\n\n${title}\n${lines.map((each) => `  ${plain(each)}`).join("\n")}`

/** What the operator has to delete elsewhere. It cannot be found out later. */
const elsewhere = (documents: ReadonlyArray<string>, { instructions }: Erased): string =>
  list("Delete these documents from the store:", documents) +
  list(
    "Cancel these payment instructions at the vendor:",
    instructions.map(({ reference, type, vendor }) => `${vendor} ${type} ${reference}`)
  )

const linesOf = ({ lines }: Erased): string =>
  lines === 1 ? "1 line of a batch" : `${inEnglish(lines)} lines of batches`

const announced = (label: string, erased: Erased): string =>
  erased.isRepeated
    ? `${label} was erased before; what was sent about it since is erased: ${linesOf(erased)}.`
    : `${label} is erased, with ${linesOf(erased)}.`

export const erase = Command.make(
  "erase",
  {
    ...importArguments,
    acceptLoss: flag("accept-loss", "Erase: nothing brings the data back")
  },
  Effect.fnUntraced(function* ({ acceptLoss, ...named }) {
    const key = yield* importMeant(named)
    const label = `${named.import_supplier} ${named.external_account_number}`
    const at = yield* DateTime.now
    const erasing = yield* (yield* Erasures).erase({ key, rehearse: !acceptLoss, at })
    if (erasing._tag !== "Erased") {
      return yield* new Refused({ why: `Cannot erase ${label}: ${refusal(erasing)}.` })
    }
    const documents = yield* documentsIn(key, erasing)
    if (!acceptLoss) {
      const why =
        `This erases the customer of ${label} for good, with ${linesOf(erasing)}. ` +
        `The money, the log and the number stay: erase --accept-loss.`
      return yield* new Refused({ why: why + elsewhere(documents, erasing) })
    }
    const { instructions, isRepeated, lines } = erasing
    yield* say(
      { ...named, was_erased_before: isRepeated, batch_lines: lines, documents, instructions },
      announced(label, erasing) + elsewhere(documents, erasing)
    )
  }, onStorage)
).pipe(
  Command.withDescription(
    "Erase the personal data of a customer: the import, the account, and lines of batches"
  ),
  Command.withExamples([
    {
      command: "operator erase ACME_LEGACY AL-0002",
      description: "Rehearse: say what would be erased"
    }
  ])
)
