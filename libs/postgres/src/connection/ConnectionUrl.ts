/**
 * The URL of a database, and whether the connection to it is protected. Every client uses this
 * module, because the driver uses TLS only if the URL asks for it, and always verifies the name in
 * the certificate. The modes have the meaning of libpq, with two exceptions. Without `sslmode`, a
 * server on another machine must prove its name (libpq would connect without TLS). `allow` and
 * `prefer` are refused, because an attacker on the network can turn TLS off.
 */
import { Redacted, Result } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { isIPv4 } from "node:net"
import type { ConnectionOptions } from "node:tls"
import * as Settings from "@data-import/domain/support/Settings"

/** The connection options of a client. */
export interface Connection {
  readonly url: Redacted.Redacted
  readonly host: string
  readonly ssl: false | ConnectionOptions
}

const modes = ["disable", "require", "verify-ca", "verify-full"] as const

type Mode = (typeof modes)[number]

/**
 * The allowed query parameters. Others are refused, because a misspelt `sslmode` would be ignored.
 * User and password belong before the host.
 */
const parameters = [
  "host",
  "port",
  "application_name",
  "options",
  "connect_timeout",
  "sslmode",
  "sslrootcert"
]

/** Whether the connection stays on this machine. */
const isLocal = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))

const hostOf = (url: URL): Result.Result<string, string> =>
  Result.try({
    try: () => {
      const named = url.searchParams.get("host") ?? decodeURIComponent(url.hostname)
      if (named.startsWith("/")) return named
      return named === "" ? "localhost" : named.replace(/^\[(.*)\]$/, "$1").toLowerCase()
    },
    catch: () => "its host is not encoded as a URL demands"
  })

const modeOf = (given: string | null, host: string): Result.Result<Mode, string> => {
  if (given === null) return Result.succeed(isLocal(host) ? "disable" : "verify-full")
  const mode = modes.find((known) => known === given)
  if (mode !== undefined) return Result.succeed(mode)
  return Result.fail(
    given === "allow" || given === "prefer"
      ? `sslmode ${given} protects nothing, because whoever is in between can turn TLS off`
      : "its sslmode is not known"
  )
}

/** The certificate authorities for the server's certificate; undefined for those of Node. */
const authorities = (file: string | null): Result.Result<string | undefined, string> => {
  if (file === null) return Result.succeed(undefined)
  return Result.try({
    try: () => {
      const certificates = readFileSync(file, "utf8")
      new X509Certificate(certificates)
      return certificates
    },
    catch: (cause) => {
      const { code } = cause as NodeJS.ErrnoException
      return `its sslrootcert holds no certificate${code === undefined ? "" : ` (${code})`}`
    }
  })
}

const anyName = () => undefined

const sslOf = (mode: Mode, ca: string | undefined): Result.Result<Connection["ssl"], string> => {
  const trusted = ca === undefined ? {} : { ca }
  switch (mode) {
    case "disable":
      return Result.succeed(false)
    case "require":
      return Result.succeed(
        ca === undefined ? { rejectUnauthorized: false } : { ca, checkServerIdentity: anyName }
      )
    case "verify-ca":
      return ca === undefined
        ? Result.fail("sslmode verify-ca needs sslrootcert: anybody has a certificate of some kind")
        : Result.succeed({ ca, checkServerIdentity: anyName })
    case "verify-full":
      return Result.succeed(trusted)
  }
}

/** Fails with the reason, without any part of the password. */
const parse = (text: string): Result.Result<Connection, string | undefined> =>
  Result.gen(function* () {
    const url = URL.parse(text)
    if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
      return yield* Result.fail(undefined)
    const given = [...url.searchParams.keys()]
    if (given.some((name) => !parameters.includes(name))) {
      return yield* Result.fail(`it may have these parameters alone: ${parameters.join(", ")}`)
    }
    if (new Set(given).size < given.length) return yield* Result.fail("it has a parameter twice")
    const host = yield* hostOf(url)
    const mode = yield* modeOf(url.searchParams.get("sslmode"), host)
    const ca = yield* authorities(url.searchParams.get("sslrootcert"))
    const ssl = yield* sslOf(mode, ca)
    // A Unix socket has no TLS and needs none.
    return { url: Redacted.make(text), host, ssl: host.startsWith("/") ? false : ssl }
  })

/** The options of a client for this URL. Throws for an invalid URL. */
export const connectionTo = (url: Redacted.Redacted): Connection =>
  Result.getOrThrowWith(
    parse(Redacted.value(url)),
    (why = "it is no URL of a PostgreSQL") => new Error(`No connection: ${why}`)
  )

/** The URL of a PostgreSQL database with its password. */
export const setting = (name: string): Settings.Setting<Redacted.Redacted> =>
  Settings.setting(name, {
    allowed: `a URL like postgres://user:password@host:port/database, its sslmode, if any, one of ${modes.join(", ")}`,
    parse: (text) => (Result.isSuccess(parse(text)) ? Redacted.make(text) : undefined),
    show: () => null,
    reason: (text) =>
      Result.match(parse(text), { onSuccess: () => undefined, onFailure: (why) => why })
  })
