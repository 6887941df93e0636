/**
 * The board service: its routes and the adapters it uses. Its users are people, so it has sessions
 * instead of tokens.
 */
import { Effect, Layer } from "effect"
import * as DocumentStore from "@data-import/documents/DocumentStore"
import * as AlertBoard from "@data-import/domain/board/AlertBoard"
import * as AuditBoard from "@data-import/domain/board/AuditBoard"
import * as CertificateBoard from "@data-import/domain/board/CertificateBoard"
import * as CommentBoard from "@data-import/domain/board/CommentBoard"
import * as AccountLists from "@data-import/domain/board/AccountLists"
import * as InvitationBoard from "@data-import/domain/board/InvitationBoard"
import * as ImportBoard from "@data-import/domain/board/ImportBoard"
import * as MigrationActions from "@data-import/domain/board/MigrationActions"
import * as MigrationForecasts from "@data-import/domain/migrations/MigrationForecasts"
import * as MigrationBoard from "@data-import/domain/board/MigrationBoard"
import * as BoardAccess from "@data-import/domain/access/BoardAccess"
import * as ProgrammeBoard from "@data-import/domain/board/ProgrammeBoard"
import * as WaveBoard from "@data-import/domain/board/WaveBoard"
import * as WaveReview from "@data-import/domain/board/WaveReview"
import { Documents } from "@data-import/domain/documents/Documents"
import { SupplierChanges } from "@data-import/domain/migrations/SupplierChanges"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as AuditLog from "@data-import/postgres/audit/AuditLog"
import * as SealedAuditLog from "@data-import/postgres/audit/SealedAuditLog"
import * as Accounts from "@data-import/postgres/accounts/Accounts"
import * as Alerts from "@data-import/postgres/alerts/Alerts"
import * as BoardSessions from "@data-import/postgres/access/BoardSessions"
import * as Batches from "@data-import/postgres/batches/Batches"
import * as Certificates from "@data-import/postgres/certificates/Certificates"
import * as CohortMoves from "@data-import/postgres/migrations/CohortMoves"
import * as Comments from "@data-import/postgres/migrations/Comments"
import * as ControlTotals from "@data-import/postgres/migrations/ControlTotals"
import * as Forecasts from "@data-import/postgres/migrations/Forecasts"
import * as ImportProcesses from "@data-import/postgres/imports/ImportProcesses"
import * as ImportSearch from "@data-import/postgres/migrations/ImportSearch"
import * as Invitations from "@data-import/postgres/access/Invitations"
import * as Migrations from "@data-import/postgres/migrations/Migrations"
import * as RehearsalOutcomes from "@data-import/postgres/batches/RehearsalOutcomes"
import * as StoredSupplierChanges from "@data-import/postgres/migrations/SupplierChanges"
import * as SupplierSummaries from "@data-import/postgres/migrations/SupplierSummaries"
import * as Programme from "@data-import/postgres/migrations/Programme"
import * as WavePlans from "@data-import/postgres/migrations/WavePlans"
import * as Configuration from "@data-import/postgres/suppliers/Configuration"
import * as ServiceStorage from "@data-import/postgres/ServiceStorage"
import * as Hashing from "@data-import/server/Hashing"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import * as Service from "@data-import/server/lifecycle/Service"
import * as Sender from "@data-import/webhooks/Sender"
import * as Changes from "./Changes.ts"
import type { GuardDependencies } from "./Guard.ts"
import * as Handlers from "./Handlers.ts"
import * as BoardSettings from "./BoardSettings.ts"
import * as OpenIdConnect from "./OpenIdConnect.ts"
import * as SignIn from "./SignIn.ts"
import * as SmtpMailer from "./SmtpMailer.ts"
import * as WebFiles from "./WebFiles.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const access = yield* BoardAccess.BoardAccess
  const { provider, publicUrl } = yield* BoardSettings.signingIn
  const premises: GuardDependencies = { access, admit, publicUrl }
  const signIn = provider === null ? null : OpenIdConnect.make(provider, publicUrl)
  const changes = Changes.make(yield* SupplierChanges, premises)
  const forecasts = yield* MigrationForecasts.MigrationForecasts
  const alerts = yield* AlertBoard.AlertBoard
  const waves = yield* WaveBoard.WaveBoard
  const programme = yield* ProgrammeBoard.ProgrammeBoard
  const web = yield* WebFiles.make(premises)
  return {
    routes: [
      ...web.routes,
      ...SignIn.routes(premises, signIn),
      ...(yield* Handlers.routes(premises)),
      changes.route
    ],
    otherwise: web.otherwise,
    dependencies: { database },
    warm: database,
    background: Effect.all(
      [
        yield* report,
        access.upkeep,
        changes.watch,
        forecasts.run,
        alerts.run,
        waves.run,
        programme.run
      ],
      { concurrency: "unbounded" }
    )
  }
})

/** Without a store there are no links to documents; everything else is shown. */
const withoutStore = Layer.succeed(Documents, {
  find: () => Effect.succeedNone,
  readLink: () => Effect.succeedNone,
  uploadLink: () => Effect.succeedNone
})

const documents = Layer.unwrap(
  Effect.map(BoardSettings.hasDocumentStore, (hasStore) =>
    hasStore ? DocumentStore.layer : withoutStore
  )
)

const mailer = Layer.unwrap(Effect.map(BoardSettings.mail, SmtpMailer.layer))

const alerts = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* BoardSettings.signingIn
    const allowsPrivate = yield* BoardSettings.allowsPrivateWebhooks
    return AlertBoard.layer({ publicUrl, allowsPrivate })
  })
).pipe(Layer.provide([mailer, Sender.layer]))

const programs = Layer.mergeAll(
  alerts,
  AuditBoard.layer,
  CertificateBoard.layer,
  CommentBoard.layer,
  AccountLists.layer,
  ImportBoard.layer,
  InvitationBoard.layer,
  MigrationActions.layer,
  MigrationBoard.layer,
  ProgrammeBoard.layer,
  WaveBoard.layer,
  WaveReview.layer
).pipe(Layer.provideMerge(MigrationForecasts.layer))

const access = Layer.unwrap(Effect.map(BoardSettings.sessionTimes, BoardAccess.layer))

const storage = ServiceStorage.of(
  Layer.mergeAll(
    AuditLog.layer,
    Accounts.layer,
    Alerts.layer,
    BoardSessions.layer,
    Batches.layer,
    Certificates.layer,
    CohortMoves.layer,
    Comments.layer,
    ControlTotals.layer,
    Forecasts.layer,
    ImportProcesses.layer,
    ImportSearch.layer,
    Invitations.layer,
    Migrations.layer,
    RehearsalOutcomes.layer,
    SealedAuditLog.layer,
    StoredSupplierChanges.layer,
    SupplierSummaries.layer,
    Programme.layer,
    WavePlans.layer,
    Configuration.layer
  )
)

/**
 * Settings: those of the server and the database, BOARD_PUBLIC_URL (unset), BOARD_OIDC_ISSUER
 * (unset: sign-in links only), BOARD_OIDC_CLIENT_ID, BOARD_OIDC_CLIENT_SECRET (unset),
 * BOARD_OIDC_SCOPE (openid profile email), BOARD_OIDC_ROLE_CLAIM (data_import_role),
 * BOARD_OIDC_ORGANISATIONS_CLAIM (data_import_organisations), BOARD_OIDC_SUPPLIERS_CLAIM
 * (data_import_suppliers), BOARD_SESSION_IDLE (30 minutes),
 * BOARD_SESSION_LENGTH (12 hours), BOARD_SESSION_PROLONGED (unset: sessions are not prolonged),
 * BOARD_SMTP_URL (unset: no e-mail), BOARD_SMTP_FROM and
 * BOARD_WEBHOOKS_PRIVATE (false), and those of the document store, if there are to be links to
 * documents. Behind the gateway TRUST_PROXY must be 1: sign-in links are for
 * clients on this machine only.
 */
export const layer = Service.layer("board", serving).pipe(
  Layer.provide([access, programs]),
  Layer.provide([documents, storage, TokenSecrets.layer, Hashing.layer])
)
