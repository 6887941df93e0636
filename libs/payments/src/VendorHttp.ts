/**
 * Requests to a vendor over HTTP. A request fails in one of three ways: the vendor rejects it, the
 * vendor cannot be reached with this configuration, or the vendor may answer later. An answer is
 * untrusted input: its size is limited, it is parsed as strict JSON and decoded by a schema, and no
 * part of it gets into an error.
 */
import { ByteSize, Effect, type Redacted, Result, Schema, Stream } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import * as Json from "@data-import/domain/schema/Json"
import {
  aboutReference,
  type Read,
  rejected,
  unavailable,
  unreachable,
  type VendorDefinition,
  type VendorFailure
} from "./VendorDefinition.ts"

/** A vendor's resources take a few kilobytes. */
const longestAnswer = ByteSize.mebibytes(1)

const tooLong = (): Stream.Stream<never, VendorFailure> =>
  Stream.fail(unavailable(aboutReference.tooLong))

/**
 * The meaning of a status other than 200. A redirect is not followed, because the credentials are
 * for this address only. The operator has to correct the address, so a retry does not help.
 */
const ofStatus = (status: number): VendorFailure => {
  const why = `status ${status}`
  if (status === 404) return rejected("unknown")
  if (status === 401 || status === 403) return rejected("credentials")
  if (status === 408 || status === 429) return unavailable(why)
  if (status >= 400 && status < 500) return rejected("refused")
  return status >= 300 && status < 400 ? unreachable(why) : unavailable(why)
}

/** The codes of an error and of what caused it, outermost first. */
const codesOf = (error: unknown, depth = 5): ReadonlyArray<string> => {
  if (depth === 0 || typeof error !== "object" || error === null) return []
  const { cause, code } = error as Readonly<Record<string, unknown>>
  const own = typeof code === "string" && /^[A-Z][A-Z0-9_/]{0,63}$/.test(code) ? [code] : []
  return [...own, ...codesOf(cause, depth - 1)]
}

/** An unknown host, and every way in which OpenSSL and Node refuse a certificate or a handshake. */
const forGood =
  /^(ENOTFOUND|EPROTO|ERR_SSL_.*|ERR_TLS_(?!HANDSHAKE_TIMEOUT).*|.*CERT.*|.*CRL.*|UNABLE_TO_.*|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/

const ofTransport = (error: HttpClientError.HttpClientError): VendorFailure => {
  const codes = codesOf(error.reason)
  const lasting = codes.find((code) => forGood.test(code))
  return lasting === undefined ? unavailable(codes[0] ?? error.reason._tag) : unreachable(lasting)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Uint8Array): Result.Result<string, VendorFailure> =>
  Result.try({ try: () => utf8.decode(bytes), catch: () => unavailable("not UTF-8") })

const bytesOf = ({
  stream
}: HttpClientResponse.HttpClientResponse): Effect.Effect<Uint8Array, VendorFailure> =>
  Stream.mapError(stream, ofTransport).pipe(
    Stream.limitBytes(longestAnswer, tooLong),
    Stream.mkUint8Array
  )

const decodeWith =
  <A>(schema: Schema.ConstraintDecoder<A>) =>
  (bytes: Uint8Array): Result.Result<A, VendorFailure> =>
    textOf(bytes).pipe(
      Result.flatMap((text) => Result.mapError(Json.parse(text), () => unavailable("not JSON"))),
      Result.flatMap((json) =>
        Result.mapError(Schema.decodeUnknownResult(schema)(json), () =>
          unavailable(aboutReference.unexpected)
        )
      )
    )

/**
 * Whether the text can be one segment of a path. Percent-encoding handles every character, but not
 * an empty segment or one with a special meaning.
 */
export const isSegment = (text: string): boolean =>
  text !== "" && text !== "." && text !== ".." && text.isWellFormed()

/**
 * Reads from the vendor at `url`. It follows no redirects. It makes no spans, because a span would
 * contain the reference and the vendor would get our trace id.
 */
export const make = (
  httpClient: HttpClient.HttpClient,
  { headers }: VendorDefinition,
  url: string,
  key: Redacted.Redacted
): Read => {
  const client = HttpClient.withScope(httpClient)
  return (path, schema) => {
    if (!path.every(isSegment)) return Effect.fail(unavailable(aboutReference.unexpected))
    const request = HttpClientRequest.get([url, ...path.map(encodeURIComponent)].join("/"), {
      headers,
      acceptJson: true
    }).pipe(HttpClientRequest.bearerToken(key))
    return client.execute(request).pipe(
      Effect.mapError(ofTransport),
      Effect.flatMap((response) =>
        response.status === 200 ? bytesOf(response) : Effect.fail(ofStatus(response.status))
      ),
      Effect.flatMap((bytes) => Effect.fromResult(decodeWith(schema)(bytes))),
      Effect.scoped,
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
  }
}
