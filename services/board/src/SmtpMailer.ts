/**
 * Sends e-mails by SMTP, one connection for each. A password is only sent over TLS, unless the
 * server is on this machine.
 */
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { type Mail, Mailer, type MessageOutcome } from "@data-import/domain/alerts/Mailer"
import { isLoopback, type MailSettings } from "./BoardSettings.ts"

const connectWithin = 10_000
const answerWithin = 30_000

interface SmtpFailure {
  readonly code?: unknown
  readonly command?: unknown
  readonly response?: unknown
  readonly responseCode?: unknown
}

/** Commands after which the server may have the message. Before it answers, nobody knows. */
const handsOver: ReadonlySet<unknown> = new Set(["DATA", "API"])

const outcomeOf = (failure: SmtpFailure): MessageOutcome => {
  const { code, command, response, responseCode } = failure
  const isAnswered = typeof responseCode === "number"
  const error = isAnswered ? String(responseCode) : typeof code === "string" ? code : "error"
  const said = typeof response === "string" ? response.slice(0, 200) : error
  const isRefused = isAnswered || (command !== undefined && !handsOver.has(command))
  return {
    _tag: isRefused ? "Refused" : "Unknown",
    error,
    answer: isAnswered ? `The server answered: ${said}` : `Not sent: ${said}.`
  }
}

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
  return (mail: Mail): Effect.Effect<MessageOutcome> =>
    Effect.tryPromise({
      try: () =>
        transport.sendMail({
          ...mail,
          from: { name: "Data Import", address: from },
          // No out-of-office reply. Source: RFC 3834.
          headers: { "Auto-Submitted": "auto-generated" }
        }),
      catch: (failure) => failure as SmtpFailure
    }).pipe(
      Effect.map(({ response }): MessageOutcome => ({
        _tag: "Sent",
        answer: `The server answered: ${response.slice(0, 200)}`
      })),
      Effect.catch((failure) => Effect.succeed(outcomeOf(failure)))
    )
}

/** Without settings no e-mail is sent. */
export const layer = (settings: MailSettings | null): Layer.Layer<Mailer> =>
  Layer.succeed(Mailer, { send: settings && make(settings) })
