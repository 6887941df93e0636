/** A thread that makes the entries of accounts, one block of lines after the other. */
import { parentPort, workerData } from "node:worker_threads"
import { DateTime, Effect, Result } from "effect"
import { type Account } from "@data-import/domain/accounts/Account"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { offlineBatch, validatingLine } from "@data-import/domain/batches/LineValidation"
import { entryHash, entryText, nothingAdded } from "@data-import/domain/certificates/AccountEntry"
import { documentsOf, SumsBuilder } from "@data-import/domain/certificates/CertifiedSums"
import { readAddition, SentAdditions } from "@data-import/domain/certificates/SentAdditions"
import { isObject, parse } from "@data-import/domain/schema/Json"
import type { Facts } from "@data-import/domain/schema/Rules"
import { finish } from "@data-import/domain/support/Steps"
import {
  type AddedLine,
  type CertifiedBlock,
  type CertifiedPart,
  type CertifySettings,
  leafBytes
} from "./CertifiedBlock.ts"
import { hashing } from "./NodeHashing.ts"

const { added, cohort, except, settings } = workerData as CertifySettings

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

const nothing = { items: nothingAdded, refused: [] }

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

const certify = ({ bytes, lines, without }: CertifiedPart, now: DateTime.Utc): CertifiedBlock => {
  const splitter = new LineSplitter()
  const batch = offlineBatch(settings.supplier, now)
  const facts = factsOf(now)
  const leaves = new Uint8Array(lines * leafBytes)
  const sums = new SumsBuilder()
  const documents = new Set<string>()
  const refused: Array<string> = []
  const failed: Array<number> = []
  let [otherCohorts, excepted] = [0, 0]
  const numberOf = (line: SplitLine, at: number): string | null => {
    if (without?.has(at) === true) return null
    const validated = finish(validatingLine(batch, line, facts))
    if (Result.isFailure(validated)) {
      failed.push(at)
      return null
    }
    const { cohort: own, payload } = validated.success
    const number = payload.external_account_number
    if (cohort !== null && own !== cohort) otherCohorts++
    else if (except.has(number)) excepted++
    else {
      const sent = added.get(number)
      const additions = sent === undefined ? nothing : additionsTo(payload, sent, facts)
      const text = finish(entryText(hashing, payload, additions.items))
      leaves.set(entryHash(hashing, text), at * leafBytes)
      sums.addAccount(payload, additions.items)
      for (const path of documentsOf(payload, additions.items)) documents.add(path)
      refused.push(...additions.refused)
      return number
    }
    return null
  }
  const numbers = [...splitter.feed(bytes), ...splitter.end()].map(numberOf)
  const { totals } = sums
  return {
    numbers,
    leaves,
    failed,
    otherCohorts,
    excepted,
    sums: totals,
    documents,
    refused,
    bytes
  }
}

// An error ends the thread, and the pool notices that.
parentPort?.on("message", (part: CertifiedPart) => {
  const certified = Effect.runSync(Effect.map(DateTime.now, (now) => certify(part, now)))
  parentPort?.postMessage(certified, [certified.leaves.buffer, certified.bytes.buffer])
})
