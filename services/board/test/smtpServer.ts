/** A real SMTP server on this machine, with a certificate that only tests trust. */
import tls from "node:tls"
import type { AddressInfo, Socket } from "node:net"
import { Effect } from "effect"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

/** Valid for a hundred years. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgonEY/Fuz9vqDbEme
gX+D8IdQckT4Maw8x5WCL7zrXP2hRANCAAT4ebmEP/qWOtPzk26tZAfZOHtgTBl2
lUqqUDyYF9QtMz1o5W2/FUSL03XwfeKSIvCGVJ0g6iAyFy5q2Vu3MOuC
-----END PRIVATE KEY-----
`

const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUcycrQhqVju1tqAeq0xDTmyOfBlkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDEwMjEyMloYDzIxMjYxMTA2
MTAyMTIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT4ebmEP/qWOtPzk26tZAfZOHtgTBl2lUqqUDyYF9QtMz1o5W2/FUSL
03XwfeKSIvCGVJ0g6iAyFy5q2Vu3MOuCo28wbTAdBgNVHQ4EFgQUCKp2pTKoisCB
ULHMe8GhAs8Wzq0wHwYDVR0jBBgwFoAUCKp2pTKoisCBULHMe8GhAs8Wzq0wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgFWw6kAeaeDXm4nviq1btyyD+UPKi/4YWKcASFCbAU6cCIQC2
Nzra0xpTOnFtoPGnKvLj4ZEkhVrn7v2mjdd11u6anA==
-----END CERTIFICATE-----
`

export interface ReceivedMail {
  readonly to: ReadonlyArray<string>
  readonly text: string
  readonly user: string | undefined
  readonly isSecure: boolean
}

/** Until the scope ends. It knows the user `board` with the password `p@ss`. */
export const smtpServer = Effect.fnUntraced(function* ({
  cutsAfterData = false,
  ...options
}: SMTPServerOptions & {
  /** Whether it ends the connection instead of its answer to a message. */
  readonly cutsAfterData?: boolean
} = {}) {
  const received: Array<ReceivedMail> = []
  const sockets = new Set<Socket>()
  const server = new SMTPServer({
    key,
    cert,
    authOptional: true,
    onAuth: ({ password, username }, _, done) =>
      username === "board" && password === "p@ss"
        ? done(null, { user: username })
        : done(new Error("Wrong password")),
    onData: (stream, session, done) => {
      let text = ""
      stream.setEncoding("utf8").on("data", (part: string) => (text += part))
      stream.on("end", () => {
        if (cutsAfterData) return sockets.forEach((socket) => socket.destroy())
        const to = session.envelope.rcptTo.map(({ address }) => address)
        received.push({ to, text, user: session.user, isSecure: session.secure })
        return done(null, "Queued")
      })
    },
    ...options
  })
  server.on("error", () => undefined)
  server.server.on("connection", (socket: Socket) => void sockets.add(socket))
  yield* Effect.callback<void>((resume) => {
    server.listen(0, () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
    })
  )
  return { received, port: (server.server.address() as AddressInfo).port }
})

/** Trusts the certificate of the server, for the rest of the process. */
export const trustSmtpServer = Effect.sync(() =>
  tls.setDefaultCACertificates([...tls.getCACertificates(), cert])
)
