/**
 * Cases of everything around the body: odd methods and headers, and bytes that are not well-formed
 * HTTP. Attacks on the framing are in `FramingPlans.ts`.
 */
import fc from "fast-check"
import { type Plan, post, type Request } from "./Case.ts"
import { operations, type Operation } from "./Document.ts"
import { answers } from "./Expectation.ts"
import { validAnswers, validRequest } from "./ValidRequests.ts"

type Headers = Request["headers"]

const withHeaders = (asked: Operation, ...headers: Headers): Request => {
  const valid = validRequest(asked)
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const others = valid.headers.filter(([name]) => !names.has(name))
  return { ...valid, headers: [...others, ...headers] }
}

const any = fc.constantFrom(...operations)

/** Methods that an HTTP parser may know or not. */
const strangeMethods = [
  "GETT",
  "post",
  "get",
  "Post",
  "FOO",
  "X".repeat(1_000),
  "G ET",
  "",
  "P\0ST",
  "PURGE",
  "M-SEARCH"
]

const strange: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.constantFrom(...strangeMethods))
  .map(([asked, method]) => ({
    operation: asked.id,
    kind: "http",
    name: `the method ${method.slice(0, 20)}`,
    steps: () => [
      {
        request: { ...validRequest(asked), method, malformed: true },
        expect: answers("400 parse_error", "405 method_not_allowed")
      }
    ]
  }))

const printable = fc
  .string({
    unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 40
  })
  .map((value) => value.replaceAll("\x7f", ""))

/** Headers that do not change the answer, with any value. */
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

/** A request has one Host; any other header may occur twice. */
const oneHost = (headers: Headers): Headers =>
  headers.filter(([name], at) => name !== "host" || headers.findIndex(([it]) => it === name) === at)

const odd: fc.Arbitrary<Plan> = fc
  .tuple(any, fc.array(ignored, { minLength: 1, maxLength: 4 }).map(oneHost))
  .map(([asked, headers]) => ({
    operation: asked.id,
    kind: "http",
    name: `headers ${headers.map(([name]) => name).join(", ")}`,
    steps: () => [{ request: withHeaders(asked, ...headers), expect: answers(...validAnswers) }]
  }))

const line = "POST /v1/data-import/validate-account/ HTTP/1.1\r\n"

/** Bytes that HTTP parsers read differently, or refuse. */
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
  { weight: 2, arbitrary: strange },
  { weight: 4, arbitrary: odd },
  { weight: 3, arbitrary: malformed }
]
