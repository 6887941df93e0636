/** A thread that makes the entries of accounts, one block of lines after the other. */
import { parentPort, workerData } from "node:worker_threads"
import { DateTime, Effect, Result } from "effect"
import { type Account } from "@data-import/domain/accounts/Account"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { offlineBatch, validatingLine } from "@data-import/domain/batches/LineValidation"
import { entryHash, entryText, nothingAdded } from "@data-import/domain/certificates/AccountEntry"
import { documentsOf, sumsOf } from "@data-import/domain/certificates/CertifiedSums"
import { readAddition, SentAdditions } from "@data-import/domain/certificates/SentAdditions"
import { isObject, parse } from "@data-import/domain/schema/Json"
import type { Facts } from "@data-import/domain/schema/Rules"
import { finish } from "@data-import/domain/support/Steps"
import type { Block } from "../book/Block.ts"
import {
  type AddedLine,
  type CertifiedBlock,
  type CertifiedLines,
  type CertifySettings,
  leafBytes
} from "./CertifiedBlock.ts"
import { hashing } from "./NodeHashing.ts"

const { added, cohort, settings } = workerData as CertifySettings

/** The facts of today, except that a note without a time was created at an unknown earlier one. */
const factsOf = (now: DateTime.Utc): Facts => ({
  ...factsAt(now, settings.timeZone),
  now: DateTime.makeUnsafe(0),
  codeLists: settings.codeLists
})

/** The body with the supplier, which a line may leave out. */
const bodyOf = (text: string): unknown => {
  const parsed = parse(text)
  if (Result.isFailure(parsed) || !isObject(parsed.success)) return null
  return { import_supplier: settings.supplier, ...parsed.success }
}

const additionsTo = (account: Account, lines: ReadonlyArray<AddedLine>, facts: Facts) => {
  const additions = new SentAdditions(account, facts.now)
  const refused = lines.flatMap(({ place, text }) => {
    const read = readAddition(bodyOf(text), facts)
    if (Result.isSuccess(read)) {
      return additions.add(read.success) ? [] : [`${place}: the account has it with other content`]
    }
    const [{ attr, detail } = { attr: "", detail: "" }] = read.failure
    return [`${place}: ${attr}: ${detail}`]
  })
  return { items: additions.items, refused }
}

const certify = ({ bytes, lines: count }: Block, now: DateTime.Utc): CertifiedBlock => {
  const splitter = new LineSplitter()
  const batch = offlineBatch(settings.supplier, now)
  const facts = factsOf(now)
  const leaves = new Uint8Array(count * leafBytes)
  const certifyLine = (line: SplitLine, at: number): CertifiedLines[number] => {
    const validated = finish(validatingLine(batch, line, facts))
    if (Result.isFailure(validated)) return null
    const { cohort: own, payload } = validated.success
    if (cohort !== null && own !== cohort) return "other_cohort"
    const number = payload.external_account_number
    const sent = added.get(number)
    const { items, refused } =
      sent === undefined ? { items: nothingAdded, refused: [] } : additionsTo(payload, sent, facts)
    leaves.set(entryHash(hashing, finish(entryText(hashing, payload, items))), at * leafBytes)
    return {
      number,
      sums: sumsOf(payload, items),
      documents: [...documentsOf(payload, items)],
      refused
    }
  }
  const lines = [...splitter.feed(bytes), ...splitter.end()].map(certifyLine)
  return { lines: JSON.stringify(lines), leaves }
}

// An error ends the thread, and the pool notices that.
parentPort?.on("message", (block: Block) => {
  const certified = Effect.runSync(Effect.map(DateTime.now, (now) => certify(block, now)))
  parentPort?.postMessage(certified, [certified.leaves.buffer])
})
