/**
 * Cases of everything around the body: methods, headers, media types, framing, and requests that
 * are no well-formed HTTP.
 */
import fc from "fast-check"
import { type Expectation, get, type Plan, post, type Request } from "./Case.ts"
import { operations, type Operation } from "./Document.ts"
import { answers, both, closes } from "./Expectation.ts"
import { gets, posts, soundAnswers, soundBody } from "./SoundBody.ts"
import { imported, supplier } from "./Tenant.ts"

/** The operation's path, with values in place of its parameters. */
export const pathOf = ({ template }: Operation): string =>
  template
    .replace("{import_supplier}", supplier)
    .replace("{external_account_number}", imported[0] ?? "")

/** The parameters that a request needs for its answer to be short, however long the run is. */
export const shortened = ({ id }: Operation): string => (id.startsWith("list") ? "limit=2" : "")

/** A request with which nothing is wrong. */
export const soundRequest = (asked: Operation): Request =>
  asked.body === null
    ? get(`${pathOf(asked)}?${shortened(asked)}`)
    : post(
        asked.template,
        soundBody(asked.id),
        asked.id === "obtainServiceToken" ? "nobody" : "demo"
      )

const plan = (asked: Operation, name: string, request: Request, expect: Expectation): Plan => ({
  operation: asked.id,
  kind: "http",
  name,
  steps: () => [{ request, expect }]
})

type Headers = Request["headers"]

const withHeaders = (asked: Operation, ...headers: Headers): Request => {
  const sound = soundRequest(asked)
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const others = sound.headers.filter(([name]) => !names.has(name))
  return { ...sound, headers: [...others, ...headers] }
}

const any = fc.constantFrom(...operations)
const anyPost = fc.constantFrom(...posts)
const anyGet = fc.constantFrom(...gets)

const otherMethods = ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "M-SEARCH"]
/** Methods that HTTP parsers know or not, as they please. */
const strangeMethods = [
  "GETT",
  "post",
  "get",
  "Post",
  "FOO",
  "X".repeat(1_000),
  "G ET",
  "",
  "P\0ST"
]

/** With these a body may come; with others it is refused, and its connection with it. */
export const methodsWithBody: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

const bodyRefused = both(answers("400 parse_error"), closes)

const methods: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(...otherMethods, "GET", "POST"), fc.boolean())
  .filter(([asked, method]) => asked.method !== method)
  .map(([asked, method, isBare]) => {
    const { body, ...sound } = soundRequest(asked)
    const isRefused = body !== undefined && !isBare && !methodsWithBody.has(method)
    return plan(
      asked,
      `the method ${method}${isBare ? "" : ", as with its own"}`,
      { ...sound, ...(body === undefined || isBare ? {} : { body }), method, malformed: true },
      isRefused ? bodyRefused : answers("405 method_not_allowed")
    )
  })

const heads: fc.Arbitrary<Plan> = any.map((asked) =>
  plan(
    asked,
    "the method HEAD",
    { method: "HEAD", path: pathOf(asked), headers: [], who: "demo" },
    answers(asked.method === "GET" ? "200" : "405")
  )
)

const strange: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(...strangeMethods))
  .map(([asked, method]) =>
    plan(
      asked,
      `the method ${method.slice(0, 20)}`,
      { ...soundRequest(asked), method, malformed: true },
      answers("400 parse_error", "405 method_not_allowed")
    )
  )

const mediaTypes: Readonly<Record<string, "taken" | "refused">> = {
  "application/json": "taken",
  "application/json; charset=utf-8": "taken",
  "APPLICATION/JSON": "taken",
  " application/json ;x=y": "taken",
  "application/json; charset=latin1": "taken",
  "": "refused",
  "text/plain": "refused",
  "text/json": "refused",
  "application/xml": "refused",
  "application/x-www-form-urlencoded": "refused",
  "multipart/form-data; boundary=x": "refused",
  "application/graphql": "refused",
  "application/ld+json": "refused",
  "application/jsonx": "refused",
  "application/json, text/plain": "refused",
  json: "refused",
  "*/*": "refused",
  ";": "refused"
}

const types: fc.Arbitrary<Plan> = fc
  .tuple(anyPost, fc.constantFrom(...Object.entries(mediaTypes)))
  .map(([asked, [type, fate]]) =>
    plan(
      asked,
      `the media type ${type}`,
      withHeaders(asked, ["content-type", type]),
      fate === "taken" ? answers(...soundAnswers) : answers("415 unsupported_media_type")
    )
  )

const untyped: fc.Arbitrary<Plan> = anyPost.map((asked) =>
  plan(
    asked,
    "no media type",
    { ...soundRequest(asked), headers: [] },
    answers("415 unsupported_media_type")
  )
)

const accepts: Readonly<Record<string, "taken" | "refused">> = {
  "": "taken",
  "*/*": "taken",
  "application/json": "taken",
  "application/*": "taken",
  "text/html, */*;q=0.1": "taken",
  "application/json;q=0.001": "taken",
  "APPLICATION/JSON": "taken",
  "text/html": "refused",
  "application/xml": "refused",
  "application/json;q=0": "refused",
  "*/*;q=0": "refused",
  "*/*, application/json;q=0": "refused",
  nonsense: "refused",
  ",,,": "refused"
}

const accepted: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(...Object.entries(accepts)))
  .map(([asked, [accept, fate]]) =>
    plan(
      asked,
      `Accept: ${accept}`,
      withHeaders(asked, ["accept", accept]),
      fate === "taken" ? answers(...soundAnswers) : answers("406 not_acceptable")
    )
  )

const printable = fc
  .string({
    unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 40
  })
  .map((value) => value.replaceAll("\x7f", ""))

/** Headers that change nothing, whatever is in them. */
const ignored = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      "x-request-id",
      "x-forwarded-for",
      "x-forwarded-proto",
      "x-forwarded-host",
      "forwarded",
      "traceparent",
      "tracestate",
      "b3",
      "baggage",
      "cookie",
      "origin",
      "referer",
      "user-agent",
      "range",
      "if-none-match",
      "if-modified-since",
      "accept-encoding",
      "accept-language",
      "accept-charset",
      "content-language",
      "x-http-method-override",
      "x-original-url",
      "pragma",
      "max-forwards",
      "via",
      "te",
      "keep-alive",
      "proxy-authorization",
      "x-real-ip",
      "dnt",
      "__proto__"
    ),
    printable
  ),
  fc.constantFrom<readonly [string, string]>(
    ["x-http-method-override", "DELETE"],
    ["x-original-url", "/metrics"],
    ["x-forwarded-for", "127.0.0.1, 10.0.0.1"],
    ["x-request-id", "x".repeat(128)],
    ["x-request-id", "x".repeat(129)],
    ["x-request-id", "a b"],
    ["x-request-id", ""],
    ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    ["traceparent", `00-${"0".repeat(32)}-${"0".repeat(16)}-00`],
    ["expect", "100-continue"],
    ["expect", "nothing"],
    ["upgrade", "h2c"],
    ["connection", "x-request-id, authorization-not"],
    ["range", "bytes=0-0"],
    ["host", "evil.example"],
    ["host", ""],
    ["accept-encoding", "gzip;q=1.0, *;q=0"],
    ["x-long", "x".repeat(3_000)]
  )
)

/** Any header may stand twice but this one. */
const oneHost = (headers: Headers): Headers =>
  headers.filter(([name], at) => name !== "host" || headers.findIndex(([it]) => it === name) === at)

const odd: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.array(ignored, { minLength: 1, maxLength: 4 }).map(oneHost))
  .map(([asked, headers]) =>
    plan(
      asked,
      `headers ${headers.map(([name]) => name).join(", ")}`,
      withHeaders(asked, ...headers),
      answers(...soundAnswers)
    )
  )

const many: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(90, 500, 1_500))
  .map(([asked, count]) =>
    plan(
      asked,
      `${count} headers`,
      {
        ...withHeaders(
          asked,
          ...Array.from({ length: count }, (_, index) => [`x-${index}`, "y"] as const)
        ),
        malformed: true
      },
      answers(...soundAnswers, "431 headers_too_large")
    )
  )

const large: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom("cookie", "x-large", "authorization", "accept"))
  .map(([asked, name]) =>
    plan(
      asked,
      `a large header ${name}`,
      { ...withHeaders(asked, [name, "x".repeat(40_000)]), malformed: true },
      answers("431 headers_too_large")
    )
  )

const withBody: fc.Arbitrary<Plan> = fc
  .tuple(anyGet, fc.constantFrom("{}", "x", "GET / HTTP/1.1\r\n\r\n"), fc.boolean())
  .map(([asked, body, isChunked]) =>
    plan(
      asked,
      "a body where none belongs",
      { ...soundRequest(asked), body, framing: isChunked ? { chunk: 2 } : "length" },
      bodyRefused
    )
  )

const line = "POST /v1/data-import/validate-account/ HTTP/1.1\r\n"
const plain = `${line}Host: x\r\nContent-Type: application/json\r\n`

/** Bytes that HTTP parsers understand differently, or not at all. */
const raws: Readonly<Record<string, string>> = {
  "no HTTP": "hello\r\n\r\n",
  "a TLS greeting": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
  "an SSH greeting": "SSH-2.0-OpenSSH_9.0\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "an old version": "GET /v1/data-import/limits/\r\n\r\n",
  "a version to come": "GET / HTTP/3.0\r\nHost: x\r\n\r\n",
  "no host": "GET /v1/data-import/limits/ HTTP/1.1\r\n\r\n",
  "two hosts": "GET /v1/data-import/limits/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "no path": "GET HTTP/1.1\r\nHost: x\r\n\r\n",
  "a blank in the path": "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
  "a control character in the path": "GET /a\x01b HTTP/1.1\r\nHost: x\r\n\r\n",
  "a header without colon": `${line}Host x\r\n\r\n`,
  "a blank before the colon": `${line}Host : x\r\n\r\n`,
  "a header without name": `${line}Host: x\r\n: y\r\n\r\n`,
  "a folded header": `${line}Host: x\r\nX-A: a\r\n b\r\n\r\n`,
  "a NUL in a header": `${line}Host: x\r\nX-A: a\0b\r\n\r\n`,
  "two lengths": `${plain}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
  "a list of lengths": `${plain}Content-Length: 2, 2\r\n\r\n{}`,
  "a negative length": `${plain}Content-Length: -1\r\n\r\n{}`,
  "a length that is no number": `${plain}Content-Length: 2x\r\n\r\n{}`,
  "an endless length": `${plain}Content-Length: ${"9".repeat(40)}\r\n\r\n{}`,
  "length and chunks": `${plain}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n`,
  "chunks in disguise": `${plain}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  "chunks twice": `${plain}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  "chunks not last": `${plain}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  "a chunk size that is none": `${plain}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  "an endless chunk size": `${plain}Transfer-Encoding: chunked\r\n\r\n${"f".repeat(20)}\r\n{}\r\n`,
  "a chunk longer than it says": `${plain}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`,
  "a method of another protocol": "SOURCE /x ICE/1.0\r\n\r\n",
  "a tunnel": "CONNECT 127.0.0.1:5432 HTTP/1.1\r\nHost: x\r\n\r\n"
}

const refusals = [
  "400 parse_error",
  "401 not_authenticated",
  "404 not_found",
  "405 method_not_allowed",
  "413 payload_too_large"
]

const malformed: fc.Arbitrary<Plan> = fc
  .constantFrom(...Object.entries(raws))
  .map(([name, raw]) => ({
    operation: "validateAccount",
    kind: "http",
    name,
    steps: () => [
      {
        request: {
          ...post("/v1/data-import/validate-account/", {}, "nobody"),
          raw,
          malformed: true
        },
        expect: answers(...refusals)
      }
    ]
  }))

/** Everything around the body, each kind as often as its weight says. */
export const httpPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 5, arbitrary: methods },
  { weight: 2, arbitrary: heads },
  { weight: 2, arbitrary: strange },
  { weight: 4, arbitrary: types },
  { weight: 1, arbitrary: untyped },
  { weight: 4, arbitrary: accepted },
  { weight: 6, arbitrary: odd },
  { weight: 1, arbitrary: many },
  { weight: 1, arbitrary: large },
  { weight: 1, arbitrary: withBody },
  { weight: 5, arbitrary: malformed }
]
