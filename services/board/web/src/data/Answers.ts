/**
 * The types of the board's API, taken from its definition, so that a breaking change there fails to
 * compile here. Only types are imported, so the definition is not in the bundle.
 */
import type * as Accounts from "@data-import/api/board/Accounts"
import type { AlertsBody, AlertTestBody } from "@data-import/api/board/Alerts"
import type * as Certificates from "@data-import/api/board/Certificates"
import type * as Said from "@data-import/api/board/Comments"
import type { InvitationsBody, InvitedBody } from "@data-import/api/board/Invitations"
import type * as BatchBodies from "@data-import/api/board/Batches"
import type * as Migrations from "@data-import/api/board/Migrations"
import type { ProgrammeBody } from "@data-import/api/board/Programme"
import type { SignOffBody } from "@data-import/api/board/SignOffs"
import type * as WaveBodies from "@data-import/api/board/Waves"

export type Condition = typeof Migrations.Condition.Type
export type Migration = Migrations.MigrationBody
export type Programme = typeof ProgrammeBody.Type
export type MigrationList = typeof Migrations.MigrationsBody.Type
export type MigrationDetail = typeof Migrations.MigrationDetailBody.Type
export type States = Migration["states"]
export type Plan = typeof Migrations.PlanBody.Type
export type ControlTotalsList = typeof Migrations.ControlTotalsListBody.Type
export type ControlTotals = ControlTotalsList["totals"][number]
export type Expected = NonNullable<ControlTotals["expected"]>
export type History = typeof Migrations.HistoryBody.Type
export type Cohorts = typeof Migrations.CohortsBody.Type
export type BatchBody = typeof BatchBodies.BoardBatchBody.Type
export type Batches = typeof BatchBodies.BoardBatchesBody.Type
export type BatchDetail = typeof BatchBodies.BoardBatchDetailBody.Type
export type BatchForecast = NonNullable<BatchDetail["forecast"]>
export type BatchOutcome = NonNullable<BatchDetail["outcome"]>
export type OutcomeLines = typeof BatchBodies.OutcomeLinesBody.Type
export type BatchLines = typeof BatchBodies.BatchLinesBody.Type
export type Forecasts = typeof Migrations.ForecastsBody.Type
export type Problems = typeof Migrations.BoardProblemsBody.Type
export type ImportRows = typeof Migrations.ImportRowsBody.Type
export type Certificate = typeof Certificates.BoardCertificateBody.Type
export type CertificateList = typeof Certificates.BoardCertificatesBody.Type
export type ProcessPreview = typeof Migrations.ProcessPreviewBody.Type
export type UndoPreview = typeof Migrations.UndoPreviewBody.Type
export type WaveReview = typeof WaveBodies.WaveReviewBody.Type
export type Waves = typeof WaveBodies.WavesBody.Type
export type Wave = Waves["waves"][number]
export type SignOff = typeof SignOffBody.Type
export type Account = typeof Accounts.BoardAccountBody.Type
export type AuditEntry = typeof Accounts.AuditEntryBody.Type
export type Audit = typeof Accounts.AuditBody.Type
export type Comments = typeof Said.CommentsBody.Type
export type Comment = typeof Said.CommentBody.Type
export type Invitations = typeof InvitationsBody.Type
export type Invited = typeof InvitedBody.Type
export type Move = typeof Accounts.MoveBody.Type
export type MoveDetail = typeof Accounts.MoveDetailBody.Type
export type Alerts = typeof AlertsBody.Type
export type AlertTest = typeof AlertTestBody.Type
export type Session = typeof Accounts.SessionBody.Type
export type Teams = typeof Accounts.TeamsBody.Type
export type Revealed = typeof Accounts.RevealedBody.Type
export type DocumentLink = typeof Accounts.DocumentLinkBody.Type
