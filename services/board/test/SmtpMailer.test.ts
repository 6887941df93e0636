/** E-mails over the real protocol. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Mailer } from "@data-import/domain/alerts/Mailer"
import { layer } from "../src/SmtpMailer.ts"
import { smtpServer, trustSmtpServer } from "./smtpServer.ts"

const mail = { to: "mia@example.com", subject: "ACME: wave ü\r\nBcc: x@y.z", text: "Why.\n.\nä" }

const send = (url: string) =>
  Effect.flatMap(Mailer, ({ send: deliver }) => deliver?.(mail) ?? Effect.die("no mailer")).pipe(
    Effect.provide(layer({ url: Redacted.make(url), from: "alerts@example.com" }))
  )

const withPassword = (host: string, port: number, password = "p%40ss") =>
  `smtp://board:${password}@${host}:${port}`

describe("an e-mail", () => {
  it.live("is sent over TLS, with the password of the deployment", () =>
    Effect.gen(function* () {
      const { port, received } = yield* smtpServer({ authOptional: false })
      const refused = yield* send(withPassword("localhost", port))
      expect(refused).toMatchObject({ _tag: "Refused", error: "ESOCKET" })
      yield* trustSmtpServer
      expect(yield* send(withPassword("localhost", port))).toMatchObject({
        _tag: "Sent",
        answer: "The server answered: 250 Queued"
      })
      expect(received).toMatchObject([{ to: [mail.to], user: "board", isSecure: true }])
      const [{ text } = { text: "" }] = received
      expect(text).toContain("From: Data Import <alerts@example.com>")
      expect(text).toContain("Auto-Submitted: auto-generated")
      expect(text).not.toMatch(/^Bcc/m)
      const wrong = yield* send(withPassword("localhost", port, "wrong"))
      expect(wrong).toMatchObject({ _tag: "Refused", error: "535" })
      expect(received).toHaveLength(1)
    })
  )

  it.live("never has its password sent without TLS to another machine", () =>
    Effect.gen(function* () {
      const plain = { disabledCommands: ["STARTTLS"], allowInsecureAuth: true }
      const { port, received } = yield* smtpServer(plain)
      expect(yield* send(withPassword("localhost", port))).toMatchObject({ _tag: "Sent" })
      const elsewhere = yield* send(withPassword("127.0.0.2", port))
      expect(elsewhere).toMatchObject({ _tag: "Refused" })
      expect(received).toHaveLength(1)
    })
  )

  it.live("is known not to be sent if the server refuses it or is away", () =>
    Effect.gen(function* () {
      yield* trustSmtpServer
      const gone = yield* Effect.scoped(smtpServer())
      expect(yield* send(`smtp://localhost:${gone.port}`)).toMatchObject({ _tag: "Refused" })
      const { port } = yield* smtpServer({
        onRcptTo: ({ address }, _, done) =>
          done(Object.assign(new Error(`No ${address}`), { responseCode: 550 }))
      })
      expect(yield* send(`smtp://localhost:${port}`)).toEqual({
        _tag: "Refused",
        error: "550",
        answer: `The server answered: 550 No ${mail.to}`
      })
    })
  )

  it.live("is not known to be sent if the connection ends before the answer", () =>
    Effect.gen(function* () {
      yield* trustSmtpServer
      const { port } = yield* smtpServer({ cutsAfterData: true })
      expect(yield* send(`smtp://localhost:${port}`)).toMatchObject({ _tag: "Unknown" })
    })
  )
})
