/** Makes the entries of blocks of lines, in a thread or in the process of the command. */
import { DateTime, Effect, Result } from "effect"
import { type Account } from "@data-import/domain/accounts/Account"
import { factsAt } from "@data-import/domain/accounts/AccountValidation"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { offlineBatch, validateLineInSteps } from "@data-import/domain/batches/LineValidation"
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

/** The facts of today, except that a note without a time was created at an unknown earlier one. */
const factsOf = ({ settings }: CertifySettings, now: DateTime.Utc): Facts => ({
  ...factsAt(now, settings.timeZone),
  now: DateTime.makeUnsafe(0),
  codeLists: settings.codeLists
})

/** The body with the supplier, which a line may leave out. */
const bodyOf = ({ settings }: CertifySettings, text: string): unknown => {
  const parsed = parse(text)
  if (Result.isFailure(parsed) || !isObject(parsed.success)) return null
  return { import_supplier: settings.supplier, ...parsed.success }
}

const nothing = { items: nothingAdded, refused: [] }

const additionsTo = (
  settings: CertifySettings,
  account: Account,
  lines: ReadonlyArray<AddedLine>,
  facts: Facts
) => {
  const additions = new SentAdditions(account, facts.now)
  const refused = lines.flatMap(({ place, text }) => {
    const read = readAddition(bodyOf(settings, text), facts)
    if (Result.isSuccess(read)) {
      return additions.add(read.success) ? [] : [`${place}: the account has it with other content`]
    }
    const [{ attr, detail } = { attr: "", detail: "" }] = read.failure
    return [`${place}: ${attr}: ${detail}`]
  })
  return { items: additions.items, refused }
}

const certified = (
  settings: CertifySettings,
  { bytes, lines, without }: CertifiedPart,
  now: DateTime.Utc
): CertifiedBlock => {
  const { added, cohort, except } = settings
  const splitter = new LineSplitter()
  const batch = offlineBatch(settings.settings.supplier, now)
  const facts = factsOf(settings, now)
  const leaves = new Uint8Array(lines * leafBytes)
  const sums = new SumsBuilder()
  const documents = new Set<string>()
  const refused: Array<string> = []
  const failed: Array<number> = []
  let [otherCohorts, excepted] = [0, 0]
  const numberOf = (line: SplitLine, at: number): string | null => {
    if (without?.has(at) === true) return null
    const validated = finish(validateLineInSteps(batch, line, facts))
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
      const additions = sent === undefined ? nothing : additionsTo(settings, payload, sent, facts)
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

export const blockCertification =
  (settings: CertifySettings) =>
  (part: CertifiedPart): Effect.Effect<CertifiedBlock> =>
    Effect.map(DateTime.now, (now) => certified(settings, part, now))
