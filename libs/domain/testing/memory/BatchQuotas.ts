/** What the batches of an organisation in memory store, and which limit that exceeds. */
import * as Batch from "../../src/batches/Batch.ts"
import type { BatchLimits } from "../../src/batches/BatchLimits.ts"
import type { ReceivedLine } from "../../src/batches/BatchLine.ts"
import type { OrganisationName } from "../../src/suppliers/Organisation.ts"
import { problems } from "./BatchResults.ts"
import type { MemoryStore, StoredBatch, StoredLine } from "./Store.ts"

type Store = MemoryStore["Service"]

const largeAnswer = 16_384

export const ofOrganisation = (store: Store, organisation: OrganisationName) =>
  [...store.batches.values()].filter(({ batch }) => batch.organisation === organisation)

export const isUnfinished = ({ batch }: StoredBatch): boolean => !Batch.isFinal(batch)

const bytesIn = (lines: ReadonlyArray<ReceivedLine>): number =>
  lines.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)

/** What a batch stores: its lines, unless they are those of another one, results and problems. */
const bytesOf = (store: Store, { areLinesDeleted, batch, lines, linesOf }: StoredBatch): number => {
  if (areLinesDeleted) return 0
  const found = problems(store, { id: batch.id, limit: Number.POSITIVE_INFINITY })
  const texts = [...lines.map(({ end }) => end?.text ?? ""), JSON.stringify(found)]
  const ofTexts = texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
  return ofTexts + (linesOf === null ? bytesIn(lines) : 0)
}

/** Of the kept answers that are as large as a body may be; a small one is not counted. */
const bytesOfAnswers = (store: Store, organisation: OrganisationName): number =>
  [...store.idempotencyKeys].reduce((sum, [place, { answer }]) => {
    const [owner] = JSON.parse(place) as [string]
    const bytes = owner === organisation ? new TextEncoder().encode(answer ?? "").length : 0
    return sum + (bytes > largeAnswer ? bytes : 0)
  }, 0)

export const exceededLimit = (
  store: Store,
  { bytes, bytesOfOrganisation, lines, storedBytes }: BatchLimits,
  organisation: OrganisationName,
  present: ReadonlyArray<StoredLine>,
  more: ReadonlyArray<ReceivedLine>,
  isReferring = false
): "lines" | "stored" | null => {
  const all = ofOrganisation(store, organisation)
  const unfinished = all.filter(isUnfinished)
  const exceeds =
    present.length + more.length > lines ||
    bytesIn(present) + bytesIn(more) > bytes ||
    unfinished.reduce((sum, each) => sum + bytesIn(each.lines), bytesIn(more)) > bytesOfOrganisation
  if (exceeds) return "lines"
  const stored = all.reduce(
    (sum, each) => sum + bytesOf(store, each),
    (isReferring ? 0 : bytesIn(more)) + bytesOfAnswers(store, organisation)
  )
  return stored > storedBytes ? "stored" : null
}
