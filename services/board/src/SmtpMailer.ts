/**
 * Sends e-mails by SMTP. A password is only sent over TLS, unless the
 * server is on this machine.
 */
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { deliveryWords } from "@data-import/domain/alerts/DeliveryWords"
import { type Mail, Mailer, type MessageOutcome } from "@data-import/domain/alerts/Mailer"
import { isLoopback, type MailSettings } from "./BoardSettings.ts"

const connectWithin = 10_000
const answerWithin = 30_000

interface SmtpFailure {
  readonly code?: unknown
  readonly response?: unknown
  readonly responseCode?: unknown
}

/** A server that has answered with a failure has not taken the message. */
const outcomeOf = (
  { code, response, responseCode }: SmtpFailure,
  isHandedOver: boolean
): MessageOutcome => {
  const isAnswered = typeof responseCode === "number"
  const error = isAnswered ? String(responseCode) : typeof code === "string" ? code : "error"
  const said = typeof response === "string" ? response.slice(0, 200) : error
  const answer = isAnswered ? `The server answered: ${said}` : deliveryWords(error)
  return { _tag: isAnswered || !isHandedOver ? "Refused" : "Unknown", error, answer }
}

const tried = <A>(action: () => Promise<A>, isHandedOver: boolean) =>
  Effect.tryPromise({
    try: action,
    catch: (failure) => outcomeOf(failure as SmtpFailure, isHandedOver)
  })

const make = ({ from, url: secret }: MailSettings) => {
  const url = new URL(Redacted.value(secret))
  const secure = url.protocol === "smtps:"
  const user = decodeURIComponent(url.username)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const transport = createTransport({
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: user !== "" && !isLoopback(url),
    ...(user !== "" && { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: connectWithin,
    greetingTimeout: connectWithin,
    socketTimeout: answerWithin,
    disableFileAccess: true,
    disableUrlAccess: true
  })
  const handOver = (mail: Mail) =>
    transport.sendMail({
      ...mail,
      from: { name: "Data Import", address: from },
      // No out-of-office reply. Source: RFC 3834.
      headers: { "Auto-Submitted": "auto-generated" }
    })
  // Connecting and signing in is tried by itself: the error of a lost connection does not tell
  // whether the server had the message by then.
  return (mail: Mail): Effect.Effect<MessageOutcome> =>
    tried(() => transport.verify(), false).pipe(
      Effect.andThen(tried(() => handOver(mail), true)),
      Effect.map(({ response }): MessageOutcome => ({
        _tag: "Sent",
        answer: `The server answered: ${response.slice(0, 200)}`
      })),
      Effect.catch((outcome) => Effect.succeed(outcome))
    )
}

/** Without settings no e-mail is sent. */
export const layer = (settings: MailSettings | null): Layer.Layer<Mailer> =>
  Layer.succeed(Mailer, { send: settings && make(settings) })
