/**
 * The interface between the board and its web part, below `/board/api/`. A session cookie names the
 * user instead of a token. Viewers may GET; everything else is for managers, except signing out and
 * the user's own alerts, and needs `X-CSRF-Token`. The role `supplier` may call what is named in
 * `ForSuppliers.ts`. A GET that a page sends in the background has the header `X-Background: 1`,
 * and does not renew the session. A supplier that the user may not see is a 404. Errors have the
 * envelope of the contract.
 * Source: docs/contract/board.md.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import { Happened } from "@data-import/domain/batches/RehearsalOutcomes"
import { moneyParts } from "@data-import/domain/migrations/ImportSearch"
import { ControlTotalsBody } from "../ControlTotalsApi.ts"
import { flag, oneOf, plainText, wholeNumber } from "../Parameter.ts"
import { accountFiles } from "./AccountFiles.ts"
import * as Accounts from "./Accounts.ts"
import { actionBodies } from "./ActionBodies.ts"
import { alertBodies, AlertsBody, AlertTestBody } from "./Alerts.ts"
import { CommentAbout } from "@data-import/domain/migrations/Comments"
import * as Certificates from "./Certificates.ts"
import * as Comments from "./Comments.ts"
import * as Invitations from "./Invitations.ts"
import * as Batches from "./Batches.ts"
import * as Migrations from "./Migrations.ts"
import { ProgrammeBody } from "./Programme.ts"
import { SignOffBody } from "./SignOffs.ts"
import { WaveReviewBody, WavesBody } from "./Waves.ts"

const root = "/board/api/"
const migration = `${root}migrations/:import_supplier/` as const
const supplier = { import_supplier: Schema.String }
const oneImport = { ...supplier, external_account_number: Schema.String }
const text = Schema.optionalKey(plainText)
const limit = Schema.optionalKey(wholeNumber(1, 1_000))

const firstProblems = Schema.optionalKey(wholeNumber(1, 100)).annotateKey({
  description: "Failed ones that have no problems but the first so many."
})

const Moved = Schema.Struct({
  changed: Schema.Int,
  next_after: Schema.NullOr(Schema.String).annotateKey({
    description: "Where the next request goes on; null: there is no more."
  })
})

const oneMove = { ...supplier, move_id: Schema.String }

const Started = Schema.Struct({ batch_id: Schema.String, lines: Schema.Int })

const get = HttpApiEndpoint.get
const post = HttpApiEndpoint.post

const listImports = get("listImports", `${migration}imports/`, {
  params: supplier,
  query: Schema.Struct({
    state: text,
    code: text,
    attr: text,
    corrected: Schema.optionalKey(flag).annotateKey({
      description: "Those that were staged again after they had failed."
    }),
    cohort: text,
    without_cohort: Schema.optionalKey(flag),
    search: text.annotateKey({ description: "The beginning of the external account number." }),
    ledger: text.annotateKey({ description: "Accounts with a ledger of this code." }),
    money: Schema.optionalKey(oneOf(moneyParts)).annotateKey({
      description: "Accounts whose money is in this sum."
    }),
    move: text.annotateKey({ description: "The id of a move that they were in." }),
    first_problems: firstProblems,
    after: text,
    limit: limit.annotateKey({ description: "1 to 1,000; 100 unless given." })
  }),
  success: Migrations.ImportRowsBody
})

const listLines = get("listBatchLines", `${migration}batches/:batch_id/lines/`, {
  params: { ...supplier, batch_id: Schema.String },
  query: Schema.Struct({
    outcome: Schema.optionalKey(oneOf(Batches.LineOutcome.literals)),
    code: text,
    attr: text,
    first_problems: firstProblems,
    after: Schema.optionalKey(wholeNumber(0, batchLimits.lines)),
    limit
  }),
  success: Batches.BatchLinesBody
})

const listOutcome = get("listBoardOutcomeLines", `${migration}batches/:batch_id/outcome/`, {
  params: { ...supplier, batch_id: Schema.String },
  query: Schema.Struct({
    predicted: Schema.optionalKey(oneOf(LineOutcome.literals)),
    happened: Schema.optionalKey(oneOf(Happened.literals)),
    after: Schema.optionalKey(wholeNumber(0, batchLimits.lines)),
    limit
  }),
  success: Batches.OutcomeLinesBody
})

const certificates = `${migration}certificates/` as const
const oneCertificate = { ...supplier, certificate_id: Schema.String }

const listCertificates = get("listBoardCertificates", certificates, {
  params: supplier,
  query: Schema.Struct({
    cohort: text,
    before: text,
    limit: limit.annotate({ description: "1 to 1,000; 100 unless given." })
  }),
  success: Certificates.BoardCertificatesBody
})

const ofOrganisation = {
  query: Schema.Struct({ organisation: text.annotateKey({ description: "All unless given." }) })
}

const auditFilter = {
  import_supplier: text,
  external_account_number: text,
  who: text,
  people: Schema.optionalKey(flag).annotateKey({
    description: "Only what users of the board and operators did, and no API key."
  }),
  action: text,
  from: text,
  to: text
}

const listAudit = get("listAudit", `${root}audit/`, {
  query: Schema.Struct({ ...auditFilter, before: text, limit }),
  success: Accounts.AuditBody
})

const exportAudit = get("exportAudit", `${root}audit.csv`, {
  query: Schema.Struct(auditFilter),
  success: Schema.String
})

const comments = `${migration}comments/` as const
const invitations = `${migration}invitations/` as const

const listComments = get("listComments", comments, {
  params: supplier,
  query: Schema.Struct({
    cohort: text,
    external_account_number: text,
    about: Schema.optionalKey(oneOf(CommentAbout.literals)),
    before: text,
    limit: limit.annotate({ description: "1 to 1,000; 100 unless given." })
  }),
  success: Comments.CommentsBody
})

/** For every user who is signed in. */
export const BoardSessionGroup = HttpApiGroup.make("boardSession").add(
  get("getSession", `${root}session/`, { success: Accounts.SessionBody }),
  get("listTeams", `${root}teams/`, { success: Accounts.TeamsBody }),
  post("prolongSession", `${root}session/prolong/`, { success: Accounts.SessionBody }),
  post("signOut", `${root}sign-out/`, { success: Schema.Struct({}) }),
  get("getAlerts", `${root}alerts/`, { success: AlertsBody }),
  post("setAlerts", `${root}alerts/`, { payload: alertBodies.settings, success: AlertsBody }),
  post("testAlerts", `${root}alerts/test/`, { payload: alertBodies.test, success: AlertTestBody })
)

export const BoardGroup = HttpApiGroup.make("board").add(
  get("getProgramme", `${root}programme/`, { ...ofOrganisation, success: ProgrammeBody }),
  get("printProgramme", `${root}programme.pdf`, {
    ...ofOrganisation,
    success: Schema.Uint8Array
  }),
  get("listMigrations", `${root}migrations/`, { success: Migrations.MigrationsBody }),
  get("getMigration", migration, {
    params: supplier,
    success: Migrations.MigrationDetailBody
  }),
  get("getHistory", `${migration}history/`, {
    params: supplier,
    query: Schema.Struct({
      step: Schema.optionalKey(oneOf(["hour", "day"])),
      cohort: text
    }),
    success: Migrations.HistoryBody
  }),
  get("listCohorts", `${migration}cohorts/`, {
    params: supplier,
    success: Migrations.CohortsBody
  }),
  get("getMove", `${migration}moves/:move_id/`, {
    params: oneMove,
    success: Accounts.MoveDetailBody
  }),
  get("listControlTotals", `${migration}control-totals/`, {
    params: supplier,
    success: Migrations.ControlTotalsListBody
  }),
  get("listBatches", `${migration}batches/`, {
    params: supplier,
    success: Batches.BoardBatchesBody
  }),
  get("getBoardBatch", `${migration}batches/:batch_id/`, {
    params: { ...supplier, batch_id: Schema.String },
    success: Batches.BoardBatchDetailBody
  }),
  listLines,
  listOutcome,
  get("listForecasts", `${migration}forecasts/`, {
    params: supplier,
    success: Migrations.ForecastsBody
  }),
  get("getProblems", `${migration}problems/`, {
    params: supplier,
    query: Schema.Struct({ cohort: text }),
    success: Migrations.BoardProblemsBody
  }),
  listImports,
  ...accountFiles,
  listCertificates,
  listComments,
  get("listInvitations", invitations, {
    params: supplier,
    success: Invitations.InvitationsBody
  }),
  get("getBoardCertificate", `${certificates}:certificate_id/`, {
    params: oneCertificate,
    success: Certificates.BoardCertificateBody
  }),
  get("exportCertificate", `${certificates}:certificate_id/certificate.json`, {
    params: oneCertificate,
    success: Schema.String
  }),
  get("exportSignedCertificate", `${certificates}:certificate_id/certificate.jws`, {
    params: oneCertificate,
    success: Schema.String
  }),
  get("printCertificate", `${certificates}:certificate_id/certificate.pdf`, {
    params: oneCertificate,
    success: Schema.Uint8Array
  }),
  get("previewUndo", `${migration}undo/`, {
    params: supplier,
    query: Schema.Struct({
      cohort: text.annotateKey({ description: "All accounts unless given." }),
      with_additions: Schema.optionalKey(flag)
    }),
    success: Migrations.UndoPreviewBody
  }),
  get("reviewWave", `${migration}go-no-go/`, {
    params: supplier,
    query: Schema.Struct({ cohort: plainText }),
    success: WaveReviewBody
  }),
  get("listWaves", `${migration}waves/`, { params: supplier, success: WavesBody }),
  get("getSignOff", `${migration}sign-off/`, { params: supplier, success: SignOffBody }),
  get("exportSummary", `${migration}summary.csv`, { params: supplier, success: Schema.String }),
  get("printSummary", `${migration}summary.pdf`, { params: supplier, success: Schema.Uint8Array }),
  get("getBoardAccount", `${migration}imports/:external_account_number/`, {
    params: oneImport,
    success: Accounts.BoardAccountBody
  }),
  listAudit,
  exportAudit
)

/**
 * Actions of managers. Each is in the audit log under `board:` and the user's name, but for the
 * preview, which changes nothing and is sent because a selection may be long.
 */
export const BoardActionGroup = HttpApiGroup.make("boardActions").add(
  post("setPlan", `${migration}plan/`, {
    params: supplier,
    payload: actionBodies.plan,
    success: Migrations.PlanBody
  }),
  post("setBoardControlTotals", `${migration}control-totals/`, {
    params: supplier,
    payload: actionBodies.controlTotals,
    success: ControlTotalsBody
  }),
  post("setStatus", `${migration}status/`, {
    params: supplier,
    payload: actionBodies.status,
    success: Schema.Struct({ status: Schema.String })
  }),
  post("addComment", comments, {
    params: supplier,
    payload: actionBodies.comment,
    success: Comments.CommentBody
  }),
  post("setCohort", `${migration}cohort/`, {
    params: supplier,
    payload: actionBodies.cohort,
    success: Moved
  }),
  post("undoMove", `${migration}moves/:move_id/undo/`, {
    params: oneMove,
    payload: actionBodies.undoMove,
    success: Moved
  }),
  post("processCohort", `${migration}process/`, {
    params: supplier,
    payload: actionBodies.processing,
    success: Started
  }),
  post("previewProcess", `${migration}process/preview/`, {
    params: supplier,
    payload: actionBodies.preview,
    success: Migrations.ProcessPreviewBody
  }),
  post("undoWave", `${migration}undo/`, {
    params: supplier,
    payload: actionBodies.undo,
    success: Started
  }),
  post("decideWave", `${migration}go-no-go/`, {
    params: supplier,
    payload: actionBodies.decision,
    success: WaveReviewBody
  }),
  post("planWave", `${migration}waves/`, {
    params: supplier,
    payload: actionBodies.wave,
    success: WavesBody
  }),
  post("signOff", `${migration}sign-off/`, {
    params: supplier,
    payload: actionBodies.signOff,
    success: SignOffBody
  }),
  post("issueBoardCertificate", certificates, {
    params: supplier,
    payload: actionBodies.certificate,
    success: Certificates.BoardCertificateBody
  }),
  post("inviteSupplier", invitations, {
    params: supplier,
    payload: actionBodies.invitation,
    success: Invitations.InvitedBody
  }),
  post("revokeInvitation", `${invitations}:invitation_id/revoke/`, {
    params: { ...supplier, invitation_id: Schema.String },
    success: Schema.Struct({})
  }),
  post("pauseBoardBatch", `${root}batches/:batch_id/pause/`, {
    params: { batch_id: Schema.String },
    success: Batches.BoardBatchBody
  }),
  post("resumeBoardBatch", `${root}batches/:batch_id/resume/`, {
    params: { batch_id: Schema.String },
    success: Batches.BoardBatchBody
  }),
  post("reveal", `${migration}imports/:external_account_number/reveal/`, {
    params: oneImport,
    success: Accounts.RevealedBody
  }),
  post("linkDocument", `${migration}imports/:external_account_number/document-links/`, {
    params: oneImport,
    payload: actionBodies.document,
    success: Accounts.DocumentLinkBody
  })
)

/**
 * Answers Server-Sent Events: `changed` with the `import_suppliers` that have changed, at most once
 * a second, and a comment every 15 seconds without an event.
 * Source: docs/contract/board.md#changes.
 */
export const changesPath = `${root}changes/` as const
