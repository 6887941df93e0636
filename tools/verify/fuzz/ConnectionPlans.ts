/**
 * Cases of how a client uses its connection, for every operation with every method: it requests
 * another protocol, names no host, closes its sending side, sends oversized heads, sends unexpected
 * bodies, or reads slowly.
 */
import { headerBytes } from "@data-import/api/Limits"
import { methods } from "@data-import/server/testing/FramingAttacks"
import { put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, type Plan, type Request, type Step } from "./Case.ts"
import { type Operation, withEachMethod } from "./Document.ts"
import { answers, answersTo, both, closes, hasAnswers } from "./Expectation.ts"
import { methodsWithBody, validAnswers, validBody, validRequest } from "./ValidRequests.ts"

type Header = Request["headers"][number]

/** An operation, requested with its own or another method. */
interface Asked {
  readonly operation: Operation
  readonly method: string
}

const withHeaders = (request: Request, ...headers: ReadonlyArray<Header>): Request => ({
  ...request,
  headers: [...request.headers, ...headers]
})

const isOwn = ({ method, operation: asked }: Asked): boolean =>
  method === asked.method || (method === "HEAD" && asked.method === "GET")

/** The request with the body of the operation and the method. */
const requestOf = (asked: Asked): Request => {
  const { body, ...valid } = validRequest(asked.operation)
  return {
    ...valid,
    method: asked.method,
    ...(body !== undefined && methodsWithBody.has(asked.method) && { body }),
    ...(!isOwn(asked) && { malformed: true })
  }
}

/** The request with a body, expected or not. */
const requestWithBody = (asked: Asked, body: string): Request => {
  const request = requestOf(asked)
  return methodsWithBody.has(asked.method) && isOwn(asked) && request.body !== undefined
    ? request
    : { ...request, body, malformed: true }
}

/** The answer to this request on an ordinary connection. */
const usualTo = (asked: Asked, { body, method }: Request): Expectation => {
  if (body !== undefined && !methodsWithBody.has(method)) {
    return both(answersTo(method, "400 parse_error"), closes)
  }
  return isOwn(asked) ? answers(...validAnswers) : answersTo(method, "405 method_not_allowed")
}

const refused = (asked: Asked, request: Request, outcome: string): Step => ({
  request: { ...request, malformed: true },
  expect: both(answersTo(asked.method, outcome), closes)
})

/** A step of a kind of client, and a later step of another client. */
type Way = readonly [name: string, step: Step, afterwards?: Step]

/** The ways in which a kind of client sends this. */
type Client = (asked: Asked) => ReadonlyArray<Way>

const upgrades: Readonly<Record<string, ReadonlyArray<Header>>> = {
  h2c: [
    ["connection", "Upgrade, HTTP2-Settings"],
    ["upgrade", "h2c"],
    ["http2-settings", "AAMAAABkAAQAAP__"]
  ],
  websocket: [
    ["connection", "keep-alive, Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ["sec-websocket-version", "13"]
  ],
  "several protocols": [
    ["connection", "upgrade"],
    ["upgrade", "HTTP/2.0, SHTTP/1.3, IRC/6.9"]
  ],
  "TLS and nothing in Connection": [["upgrade", "TLS/1.0"]],
  "no protocol": [
    ["connection", "upgrade"],
    ["upgrade", ""]
  ]
}

/** With and without a body, in both framings that it can have, whole and in parts. */
const inEveryForm = (asked: Asked): ReadonlyArray<Request> =>
  [requestOf(asked), requestWithBody(asked, "{}")].flatMap((valid) =>
    (valid.body === undefined ? [valid] : [valid, { ...valid, framing: { chunk: 2_000 } }]).flatMap(
      (request): ReadonlyArray<Request> => [request, { ...request, split: true }]
    )
  )

const upgrading: Client = (asked) =>
  Object.entries(upgrades).flatMap(([name, headers]) =>
    inEveryForm(asked).map(
      (valid) =>
        [
          `an upgrade to ${name}`,
          {
            request: withHeaders(valid, ...headers),
            expect: both(usualTo(asked, valid), closes)
          }
        ] as const
    )
  )

const noHosts = [
  "[::1",
  "::1]",
  "[]",
  "[::1]x",
  "[::1]:x",
  "[127.0.0.1]",
  "user@127.0.0.1",
  "user:secret@127.0.0.1:80",
  "a b",
  "a\tb",
  "a:1:2",
  "a:-1",
  "a:123456",
  ":80 ",
  "http://a/",
  "a/b",
  "a?b",
  "a#b",
  "a\\b",
  "<a>",
  '"a"',
  "a|b",
  "a\xe9"
]

const hosts = [
  "",
  "a",
  "A.b-c_d:",
  "[::1]:80",
  "localhost:00080",
  "%41",
  "127.0.0.1.",
  "x".repeat(255)
]

const naming: Client = (asked) => {
  const valid = requestOf(asked)
  const one = (name: string, ...values: ReadonlyArray<string>) => {
    const request = withHeaders(valid, ...values.map((value) => ["host", value] as const))
    return [name, refused(asked, request, "400 parse_error")] as const
  }
  return [
    ...noHosts.map((host) => one(`the host ${host}`, host)),
    one("two hosts", "a", "b"),
    one("the same host twice", "a", "a"),
    one("a host and none", "a", ""),
    ...hosts.map((host) => {
      const request = withHeaders(valid, ["host", host])
      return [`the host ${host.slice(0, 40)}`, { request, expect: usualTo(asked, valid) }] as const
    }),
    [
      "a host of 64 KiB",
      refused(asked, withHeaders(valid, ["host", "x".repeat(64 * 1024)]), "431 headers_too_large")
    ]
  ]
}

const halfClosing: Client = (asked) => {
  const whole = inEveryForm(asked).map(
    (valid) =>
      [
        "nothing to come after the request",
        {
          request: { ...valid, halfClosed: true },
          expect: both(usualTo(asked, valid), hasAnswers(1))
        } satisfies Step
      ] as const
  )
  const broken = (["stalled", "announced"] as const).map((framing) => {
    const request: Request = { ...requestWithBody(asked, "{}"), framing, halfClosed: true }
    const step = refused(asked, request, "400 parse_error")
    return [
      "the end within the body",
      isOwn(asked) || !methodsWithBody.has(asked.method)
        ? step
        : // Nobody waits for the body of a method that is not there.
          { ...step, expect: answers("405 method_not_allowed", "400 parse_error") }
    ] as const
  })
  return [...whole, ...broken]
}

const sized: Client = (asked) => {
  const valid = requestOf(asked)
  const large = (name: string, ...headers: ReadonlyArray<Header>) =>
    [name, refused(asked, withHeaders(valid, ...headers), "431 headers_too_large")] as const
  const room = withHeaders(valid, ["x-large", "x".repeat(headerBytes - 4 * 1024)])
  return [
    ["a head as large as may be", { request: room, expect: usualTo(asked, valid) }],
    large("a header of 16 KiB", ["x-large", "x".repeat(headerBytes)]),
    // A larger one may be refused before it is read, and its answer be lost with the connection.
    large("a header of 60 KB", ["x-large", "x".repeat(60_000)]),
    large("a name of 16 KiB", ["x".repeat(headerBytes), ""]),
    large("a token of 60 KB", ["authorization", `Token ${"x".repeat(60_000)}`]),
    large(
      "2,000 headers",
      ...Array.from({ length: 2_000 }, (_, index) => [`x-${index}`, "y"] as const)
    ),
    [
      "a path of 16 KiB",
      refused(
        asked,
        { ...valid, path: `${valid.path}?${"x".repeat(headerBytes)}` },
        "431 headers_too_large"
      )
    ]
  ]
}

const bodies = ["{}", "x", "GET /v1/data-import/limits/ HTTP/1.1\r\nhost: x\r\n\r\n"]

const filling: Client = (asked) =>
  bodies.flatMap((body) =>
    ["length" as const, { chunk: 2 }, { chunk: 1_000 }].flatMap((framing) =>
      [false, true].map((isSplit) => {
        const valid = requestWithBody(asked, body)
        const request: Request = { ...valid, framing, ...(isSplit && { split: true }) }
        return ["a body, whatever the method", { request, expect: usualTo(asked, valid) }] as const
      })
    )
  )

/** Another client, beside them. */
const another = (asked: Asked): Step => {
  const request = requestOf(asked)
  return { request, expect: usualTo(asked, request) }
}

const slow = (request: Request, bytesPerRead: number): Request => ({
  ...withHeaders(request, ["connection", "close"]),
  bytesPerRead
})

const reading: Client = (asked) =>
  [1, 7, 64].map((bytes) => {
    const valid = requestOf(asked)
    const request = slow(valid, bytes)
    const expect = both(usualTo(asked, valid), hasAnswers(3))
    return [`reading ${bytes} bytes at a time`, { request, times: 3, expect }, another(asked)]
  })

/** An account of some megabytes, which is answered unchanged. */
const largeAccount = (): Wire =>
  put(
    validBody("validateAccount"),
    "payload.notes",
    Array.from({ length: 4_000 }, (_, index) => ({ body: `${index} ${"x".repeat(1_000)}` }))
  )

/** Answers that are too large for the buffers on the way. */
const readingMuch: Client = (asked) => {
  const { id } = asked.operation
  if (!isOwn(asked) || asked.method === "HEAD") return []
  if (id !== "validateAccount" && !/(?:Imports|ImportedAccounts)$/.test(id)) return []
  const valid = requestOf(asked)
  const [path = ""] = valid.path.split("?", 1)
  const request =
    id === "validateAccount"
      ? { ...valid, body: JSON.stringify(largeAccount()) }
      : { ...valid, path }
  const expect = both(answers("200"), hasAnswers(2))
  const step = { request: slow(request, 8_192), times: 2, expect }
  return [["reading a long answer slowly", step, another(asked)]]
}

const clients = { upgrading, naming, halfClosing, sized, filling, reading, readingMuch }

const plansFor = (asked: Asked, client: Client): ReadonlyArray<Plan> =>
  client(asked).map(([name, step, afterwards]) => ({
    operation: asked.operation.id,
    kind: "connection",
    name: `${name}, ${asked.method}`,
    steps: () => [afterwards === undefined ? step : { ...step, next: () => [afterwards] }]
  }))

const everything: ReadonlyArray<Asked> = withEachMethod(methods)

const kindsOfClient = Object.values(clients)

/** Every way in which any client sends this. */
const plansOf = (asked: Operation, method: string): ReadonlyArray<Plan> =>
  kindsOfClient.flatMap((client) => plansFor({ operation: asked, method }, client))

/** Each operation with each method, by some kind of client, and every kind of client. */
export const connectionCases: ReadonlyArray<Plan> = [
  ...everything.flatMap((asked, index) => {
    const plans = plansOf(asked.operation, asked.method)
    return plans.slice((index * 7) % plans.length).slice(0, 1)
  }),
  ...everything.flatMap((asked) => plansFor(asked, readingMuch))
]

/** Any kind of client with any request. */
export const connectionPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = kindsOfClient.map(
  (client) => {
    const askable = everything.filter((asked) => client(asked).length > 0)
    return {
      weight: client === readingMuch ? 1 : 4,
      arbitrary: fc
        .constantFrom(...askable)
        .chain((asked) => fc.constantFrom(...plansFor(asked, client)))
    }
  }
)
