/**
 * The alerts of the user who is signed in, and the background work that tells all users.
 * Source: docs/contract/board.md#alerts.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import type { OpenSession } from "../access/BoardAccess.ts"
import { pathOf, titleOf } from "../alerts/Alert.ts"
import { deliverOnce, sendMessage } from "../alerts/AlertDelivery.ts"
import { testMessage } from "../alerts/AlertMessages.ts"
import { Alerts } from "../alerts/Alerts.ts"
import {
  addressOf,
  type AlertSettingsRequest,
  type AlertWay,
  invalidUrl,
  mostSuppliers,
  noAlerts,
  shownOf
} from "../alerts/AlertSettings.ts"
import { watchOnce } from "../alerts/AlertWatch.ts"
import { Mailer } from "../alerts/Mailer.ts"
import { Batches } from "../batches/Batches.ts"
import { WebhookSender } from "../events/WebhookSender.ts"
import { Comments } from "../migrations/Comments.ts"
import { ControlTotals } from "../migrations/ControlTotals.ts"
import { MigrationForecasts } from "../migrations/MigrationForecasts.ts"
import { Migrations } from "../migrations/Migrations.ts"
import { WavePlans } from "../migrations/WavePlans.ts"
import { type Failure, validationFailed } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { formatInstant } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { RequestId } from "../suppliers/Organisation.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import { every } from "../support/Every.ts"
import { traced } from "../support/Traced.ts"
import { available } from "./Acting.ts"
import { actingAs } from "./BoardCaller.ts"
import { visibleSuppliers } from "./VisibleSuppliers.ts"

/** The request of a user about the user's own alerts. */
export interface OwnRequest {
  readonly session: Pick<OpenSession, "createdAt" | "user">
  readonly requestId: RequestId
}

export interface AlertPlace {
  /** Null if there are no links. */
  readonly publicUrl: URL | null
  /** Whether webhooks may have private addresses and http. */
  readonly allowsPrivate: boolean
}

export class AlertBoard extends Context.Service<
  AlertBoard,
  {
    readonly read: (own: OwnRequest) => Effect.Effect<ReturnType<typeof settingsBody>, Failure>
    readonly save: (
      own: OwnRequest,
      request: AlertSettingsRequest
    ) => Effect.Effect<ReturnType<typeof settingsBody>, Failure>
    /** Sends a test to the stored address. */
    readonly test: (
      own: OwnRequest,
      way: AlertWay
    ) => Effect.Effect<{ readonly sent: boolean; readonly answer: string }, Failure>
    /** Finds once what is to be told. */
    readonly watch: Effect.Effect<void, StorageUnavailable>
    /** Sends one message; false if there was none to send. */
    readonly deliver: Effect.Effect<boolean, StorageUnavailable>
    /** Both until it is interrupted. */
    readonly run: Effect.Effect<never>
  }
>()("@data-import/domain/AlertBoard") {}

const toldShown = 20
const watchedEvery = Duration.minutes(1)
const deliveredEvery = Duration.seconds(5)
const testedEvery = Duration.seconds(30)

/** How many messages an instance sends at once, so that a slow server holds up few. */
const senders = 4

interface Dependencies {
  readonly alerts: Alerts["Service"]
  readonly configuration: Configuration["Service"]
  readonly mailer: Mailer["Service"]
}

type Stored = Effect.Success<ReturnType<Alerts["Service"]["told"]>>

const settingsBody = (
  { email, failingShare, kinds, suppliers, webhook }: typeof noAlerts,
  told: Stored,
  sendsEmail: boolean
) => ({
  kinds,
  failing_share: failingShare,
  import_suppliers: suppliers && suppliers.map((code) => wireCode(code) as string),
  email,
  webhook: webhook && shownOf(webhook),
  sends_email: sendsEmail,
  told: told.map((sent) => ({
    way: sent.way,
    title: titleOf(sent),
    reason: sent.reason,
    path: pathOf(sent),
    at: formatInstant(sent.at),
    state: sent.state,
    error: sent.error
  }))
})

const read = Effect.fnUntraced(function* (
  { alerts, mailer }: Dependencies,
  { session }: OwnRequest
) {
  const { subject } = session.user
  const settings = Option.getOrElse(yield* alerts.read(subject), () => noAlerts)
  return settingsBody(settings, yield* alerts.told(subject, toldShown), mailer.send !== null)
})

const suppliersIn = Effect.fnUntraced(function* (
  { configuration }: Dependencies,
  { session }: OwnRequest,
  named: ReadonlyArray<string>
) {
  const visible = yield* visibleSuppliers(configuration, session.user)
  const errors: Array<FieldError> = []
  const codes = named.flatMap((name, index) => {
    const found = visible.find(({ code }) => wireCode(code) === name)
    if (found !== undefined) return [found.code]
    const attr = `import_suppliers.${index}`
    errors.push({ attr, code: "invalid", detail: "Must be a supplier that you may see." })
    return []
  })
  if (named.length === 0 || named.length > mostSuppliers) {
    const detail = `Must be 1 to ${mostSuppliers} suppliers, or null for all.`
    errors.push({ attr: "import_suppliers", code: "invalid", detail })
  }
  return errors.length > 0
    ? yield* validationFailed("request_failed_validation", errors)
    : [...new Set(codes)]
})

const secretOf = (text: string | null) => (text === null ? null : Redacted.make(text))

const save = Effect.fnUntraced(function* (
  deps: Dependencies,
  { allowsPrivate }: AlertPlace,
  own: OwnRequest,
  request: AlertSettingsRequest
) {
  const { session } = own
  const { email, failing_share: failingShare, import_suppliers: named, webhook } = request
  if (webhook?.startsWith("http:") === true && !allowsPrivate) {
    const error = { ...invalidUrl, attr: "webhook" }
    return yield* validationFailed("request_failed_validation", [error])
  }
  const suppliers = named && (yield* suppliersIn(deps, own, named))
  const before = Option.getOrElse(yield* deps.alerts.read(session.user.subject), () => noAlerts)
  const settings = {
    kinds: [...new Set(request.kinds)],
    failingShare,
    suppliers,
    email,
    webhook: webhook === undefined ? before.webhook : secretOf(webhook)
  }
  const { createdAt: signedInAt, user } = session
  yield* deps.alerts.save({ user, signedInAt, settings, at: yield* DateTime.now })
  return yield* read(deps, own)
})

const make = (place: AlertPlace) =>
  Effect.gen(function* () {
    const alerts = yield* Alerts
    const configuration = yield* Configuration
    const mailer = yield* Mailer
    const deps = { alerts, configuration, mailer }
    const sending = { ...place, alerts, mailer, webhooks: yield* WebhookSender }
    const watching = {
      ...deps,
      batches: yield* Batches,
      controlTotals: yield* ControlTotals,
      forecasts: yield* MigrationForecasts,
      comments: yield* Comments,
      migrations: yield* Migrations,
      plans: yield* WavePlans
    }

    const test = Effect.fnUntraced(function* ({ session }: OwnRequest, way: AlertWay) {
      const { subject } = session.user
      const stored = Option.getOrElse(yield* alerts.read(subject), () => noAlerts)
      const address = addressOf(stored, way)
      if (address === null) return { sent: false, answer: "Save where to send it first." }
      const at = yield* DateTime.now
      if (!(yield* alerts.takeTest({ subject, at, pause: testedEvery }))) {
        return { sent: false, answer: "Wait half a minute between two tests." }
      }
      const outcome = yield* sendMessage(sending, way, address, testMessage(place.publicUrl))
      return { sent: outcome._tag === "Sent", answer: outcome.answer }
    })

    const watch = watchOnce(watching)
    const deliver = deliverOnce(sending)
    const whileSome = Effect.repeat(deliver, { while: (sent) => sent })
    const sender = every(deliveredEvery, "the delivery of alerts met an error", whileSome)
    const watcher = every(watchedEvery, "the search for alerts met an error", watch)
    return AlertBoard.of({
      read: traced("AlertBoard.read")((own) => available(read(deps, own))),
      save: traced("AlertBoard.save")((own, request) =>
        save(deps, place, own, request).pipe(
          actingAs({ user: own.session.user, requestId: own.requestId }),
          available
        )
      ),
      test: traced("AlertBoard.test")((own, way) => available(test(own, way))),
      watch,
      deliver,
      run: Effect.all([watcher, ...Array.from({ length: senders }, () => sender)], {
        concurrency: "unbounded",
        discard: true
      }).pipe(Effect.andThen(Effect.never))
    })
  })

/** Needs the storage ports, the forecasts, a mailer and a sender of webhooks. */
export const layer = (place: AlertPlace) => Layer.effect(AlertBoard, make(place))
