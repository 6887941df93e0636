/**
 * What the role `supplier` may call. Everything else is refused to it, so a new endpoint is closed
 * until it is named here. Its answers must then name nobody of the operator, nor repeat what they
 * have written.
 * Source: docs/contract/board.md#the-suppliers-view.
 */
import type { HttpApiGroup } from "effect/http-api"
import type { BoardActionGroup, BoardGroup, BoardSessionGroup } from "./BoardApi.ts"

type Groups = typeof BoardSessionGroup | typeof BoardGroup | typeof BoardActionGroup
type Name = HttpApiGroup.Endpoints<Groups>["identifier"]

const names: ReadonlyArray<Name> = [
  "getSession",
  "signOut",
  "listMigrations",
  "getMigration",
  "getHistory",
  "listCohorts",
  "listControlTotals",
  "listBatches",
  "getBoardBatch",
  "listBatchLines",
  "listBoardOutcomeLines",
  "listForecasts",
  "getProblems",
  "listImports",
  "getBoardAccount",
  "exportCorrections",
  "exportCorrectionSheet",
  "listBoardCertificates",
  "getBoardCertificate",
  "getSignOff",
  "exportSummary",
  "printSummary"
]

export const forSuppliers: ReadonlySet<string> = new Set(names)
