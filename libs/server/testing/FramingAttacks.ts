/**
 * Requests whose framing two HTTP implementations could read differently (RFC 9112, section 11.2).
 * Each hides a second request in what one of them takes for a body. A proxy that forwards such
 * bytes must not let the hidden request reach a service. The tests of the gateway and the fuzzer
 * use the list.
 */

/** The default path of the hidden request. */
export const hiddenPath = "/v1/data-import/notes/create/?hidden"

const hiddenRequest =
  `POST ${hiddenPath} HTTP/1.1\r\nhost: data-import.test\r\n` +
  "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"

export interface FramingAttack {
  readonly name: string
  /** Header lines after the request line and the Host header, each with its line end. */
  readonly headers: string
  /** What follows the empty line. */
  readonly body: string
  /** The line end of the request line; CRLF unless given. */
  readonly lineEnd?: string
  readonly version?: string
  /** The maximum number of requests that a strict reader finds in the bytes; 1 unless given. */
  readonly requests?: number
}

const size = (text: string): number => Buffer.byteLength(text)
const chunk = (text: string, extension = ""): string =>
  `${size(text).toString(16)}${extension}\r\n${text}\r\n`
const lastChunk = "0\r\n\r\n"

/** A request to hide, and the bodies that two readers can interpret differently. */
interface Hidden {
  readonly hiddenRequest: string
  readonly hiddenLength: number
  /** As chunks, for a reader that uses the length or sees no body at all. */
  readonly chunkedHidden: string
  /** After the last chunk, for a reader that uses chunks. */
  readonly endThenHidden: string
}

const hide = (hiddenRequest: string): Hidden => ({
  hiddenRequest,
  hiddenLength: size(hiddenRequest),
  chunkedHidden: chunk(hiddenRequest) + lastChunk,
  endThenHidden: lastChunk + hiddenRequest
})

type Attacks = (hidden: Hidden) => ReadonlyArray<FramingAttack>

const attack = (name: string, headers: string, body: string): FramingAttack => ({
  name,
  headers,
  body
})

const lengthAndChunks: Attacks = ({ chunkedHidden, endThenHidden }) => [
  attack("CL.TE", "content-length: 5\r\ntransfer-encoding: chunked\r\n", endThenHidden),
  attack("TE.CL", "transfer-encoding: chunked\r\ncontent-length: 5\r\n", endThenHidden),
  attack(
    "a length that covers all, and chunks that end at once",
    `content-length: ${size(endThenHidden)}\r\ntransfer-encoding: chunked\r\n`,
    endThenHidden
  ),
  attack(
    "a length of 0, and chunks",
    "content-length: 0\r\ntransfer-encoding: chunked\r\n",
    chunkedHidden
  ),
  attack(
    "chunks, and a length that Connection names",
    "connection: content-length\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n",
    endThenHidden
  ),
  attack(
    "chunks that Connection names, and a length",
    "connection: transfer-encoding\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n",
    endThenHidden
  )
]

/**
 * The body hides the request from readers that honour the header, and shows it to those that do
 * not.
 */
const transferEncodings = [
  "transfer-encoding: xchunked",
  "transfer-encoding: chunked, identity",
  "transfer-encoding: identity, chunked",
  "transfer-encoding: gzip, chunked",
  "transfer-encoding: chunked, chunked",
  "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
  "transfer-encoding: chunked\r\ntransfer-encoding: identity",
  "transfer-encoding: identity",
  'transfer-encoding: "chunked"',
  "transfer-encoding: chunked;q=1",
  "transfer-encoding:\tchunked",
  "transfer-encoding:\x0bchunked",
  "transfer-encoding: \x0cchunked",
  "transfer-encoding: chunked\x00",
  "transfer-encoding : chunked",
  "transfer-encoding\t: chunked",
  " transfer-encoding: chunked",
  "transfer-encoding:\r\n chunked",
  "transfer-encoding:\n chunked",
  "x: y\r\n transfer-encoding: chunked",
  "x: y\ntransfer-encoding: chunked",
  "x: y\rtransfer-encoding: chunked",
  "transfer_encoding: chunked",
  "Transfer-Encoding: CHUNKED",
  "transfer-encoding: cHuNkEd ",
  "transfer-encoding:chunked,",
  "transfer-encoding: ,chunked",
  "transfer-encoding:"
]

const byTransferEncoding: Attacks = ({ chunkedHidden }) =>
  transferEncodings.map((line) =>
    attack(`chunks by ${JSON.stringify(line)}`, `${line}\r\n`, chunkedHidden)
  )

const lengths = [
  ["+", ""],
  ["-", ""],
  ["0x", ""],
  ["0", ""],
  ["", ".0"],
  ["", "e0"],
  ["", " "],
  ["", ", 0"],
  ["0, ", ""],
  ["", ";"],
  ["\x0b", ""],
  ['"', '"']
]

const byLength: Attacks = ({ hiddenLength, hiddenRequest }) =>
  lengths.map(([before, after]) =>
    attack(
      `a length written ${JSON.stringify(`${before}N${after}`)}`,
      `content-length: ${before}${hiddenLength}${after}\r\n`,
      hiddenRequest
    )
  )

const oddLengths: Attacks = ({ hiddenLength, hiddenRequest }) => [
  attack("no length", "", ""),
  attack("an empty length", "content-length:\r\n", hiddenRequest),
  attack("an endless length", "content-length: 99999999999999999999999\r\n", hiddenRequest),
  attack(
    "two lengths, the first 0",
    `content-length: 0\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "two lengths, the second 0",
    `content-length: ${hiddenLength}\r\ncontent-length: 0\r\n`,
    hiddenRequest
  ),
  attack(
    "the same length twice",
    `content-length: ${hiddenLength}\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "the same length twice in a list",
    `content-length: ${hiddenLength}, ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack("a length, obs-folded", `content-length:\r\n ${hiddenLength}\r\n`, hiddenRequest),
  attack(
    "a folded header before the length",
    `x: y\r\n z\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack("a blank before the colon", `content-length : ${hiddenLength}\r\n`, hiddenRequest),
  attack("an underscore in the name", `content_length: ${hiddenLength}\r\n`, ""),
  attack("a length that is right", `content-length: ${hiddenLength}\r\n`, hiddenRequest),
  attack(
    "a length that Connection names",
    `connection: content-length\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "a length that Connection names beside others",
    `connection: close, Content-Length\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "a Host that Connection names",
    `connection: host\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  )
]

const chunks: Attacks = ({ chunkedHidden, hiddenLength, hiddenRequest }) =>
  (
    [
      ["chunks that are right", chunkedHidden],
      ["a chunk extension", chunk(hiddenRequest, ";a=b") + lastChunk],
      ["a quoted chunk extension", chunk(hiddenRequest, ';a="\\r\\n0"') + lastChunk],
      ["a chunk extension with a bare LF", chunk(hiddenRequest, ";a\nb") + lastChunk],
      ["a chunk size with a blank", chunk(hiddenRequest, " ") + lastChunk],
      ["a chunk size with a plus", `+${chunkedHidden}`],
      ["a chunk size with 0x", `0x${chunkedHidden}`],
      ["a chunk size with zeros", `0000000${chunkedHidden}`],
      ["a chunk size that overflows", `ffffffffffffffff1\r\n${hiddenRequest}`],
      ["a negative chunk size", `-1\r\n${hiddenRequest}`],
      ["an empty chunk size", `\r\n${hiddenRequest}`],
      ["a chunk ended by LF", `${hiddenLength.toString(16)}\n${hiddenRequest}\n0\n\n`],
      ["a chunk ended by nothing", `${hiddenLength.toString(16)}\r\n${hiddenRequest}${lastChunk}`],
      ["a last chunk ended by LF", `0\n\n${hiddenRequest}`],
      ["a trailer", `${chunk(hiddenRequest)}0\r\nx: y\r\n\r\n`],
      ["a trailer with a length", `${chunk(hiddenRequest)}0\r\ncontent-length: 5\r\n\r\n`],
      [
        "a trailer with an encoding",
        `${chunk(hiddenRequest)}0\r\ntransfer-encoding: chunked\r\n\r\n`
      ],
      ["a trailer with a token", `${chunk(hiddenRequest)}0\r\nauthorization: Token t\r\n\r\n`],
      ["no last chunk", chunk(hiddenRequest)]
    ] as const
  ).map(([name, body]) => attack(name, "transfer-encoding: chunked\r\n", body))

const connections: Attacks = ({ chunkedHidden, hiddenLength, hiddenRequest }) => [
  attack(
    "Expect and a length",
    `expect: 100-continue\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack("Expect and no body", "expect: 100-continue\r\n", ""),
  attack(
    "Expect and chunks",
    "expect: 100-continue\r\ntransfer-encoding: chunked\r\n",
    chunkedHidden
  ),
  attack(
    "an unknown expectation",
    `expect: y\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "Upgrade and a length",
    `connection: upgrade\r\nupgrade: h2c\r\ncontent-length: ${hiddenLength}\r\n`,
    hiddenRequest
  ),
  attack(
    "Upgrade and chunks",
    "connection: upgrade\r\nupgrade: websocket\r\ntransfer-encoding: chunked\r\n",
    chunkedHidden
  )
]

const versionsAndLineEnds: Attacks = ({
  chunkedHidden,
  endThenHidden,
  hiddenLength,
  hiddenRequest
}) => [
  {
    name: "HTTP/1.0 with chunks",
    headers: "transfer-encoding: chunked\r\n",
    body: chunkedHidden,
    version: "1.0"
  },
  {
    name: "HTTP/1.0 kept alive with chunks",
    headers: "connection: keep-alive\r\ntransfer-encoding: chunked\r\n",
    body: endThenHidden,
    version: "1.0"
  },
  {
    name: "HTTP/1.2",
    headers: `content-length: ${hiddenLength}\r\n`,
    body: hiddenRequest,
    version: "1.2"
  },
  {
    name: "bare LF",
    headers: `content-length: ${hiddenLength}\n`,
    body: hiddenRequest,
    lineEnd: "\n"
  },
  {
    name: "bare CR",
    headers: `content-length: ${hiddenLength}\r`,
    body: hiddenRequest,
    lineEnd: "\r"
  },
  { name: "pipelining", headers: "content-length: 0\r\n", body: hiddenRequest, requests: 2 },
  {
    name: "pipelining after chunks",
    headers: "transfer-encoding: chunked\r\n",
    body: endThenHidden,
    requests: 2
  },
  {
    name: "pipelining after blank lines",
    headers: "content-length: 0\r\n",
    body: `\r\n\r\n${hiddenRequest}`,
    requests: 2
  },
  {
    name: "pipelining after Connection: close",
    headers: "connection: close\r\n",
    body: hiddenRequest
  }
]

/** All the attacks, hiding this request. */
export const attacksHiding = (request: string): ReadonlyArray<FramingAttack> => {
  const hidden = hide(request)
  const all = [
    lengthAndChunks,
    byTransferEncoding,
    byLength,
    oddLengths,
    chunks,
    connections,
    versionsAndLineEnds
  ]
  return all.flatMap((attacks) => attacks(hidden))
}

export const framingAttacks = attacksHiding(hiddenRequest)

/** Every reader finds the same requests in the bytes (RFC 9110; RFC 9112, sections 6 and 7). */
const unambiguous: ReadonlySet<string> = new Set([
  'chunks by "transfer-encoding:\\tchunked"',
  'chunks by "transfer_encoding: chunked"',
  'chunks by "Transfer-Encoding: CHUNKED"',
  'chunks by "transfer-encoding: cHuNkEd "',
  'a length written "0N"',
  'a length written "N "',
  "no length",
  "an underscore in the name",
  "a length that is right",
  "a length that Connection names",
  "a length that Connection names beside others",
  "a Host that Connection names",
  "chunks that are right",
  "a chunk extension",
  "a quoted chunk extension",
  "a chunk size with zeros",
  "a trailer",
  "a trailer with a token",
  "Expect and a length",
  "Expect and no body",
  "Expect and chunks",
  "an unknown expectation",
  "Upgrade and a length",
  "Upgrade and chunks",
  "pipelining",
  "pipelining after chunks",
  "pipelining after blank lines",
  "pipelining after Connection: close"
])

/** Whether the connection must be closed, because it is unknown what follows on it. */
export const isInDoubt = ({ name }: FramingAttack): boolean => !unambiguous.has(name)

export const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PROPFIND"
] as const

/**
 * The attack as bytes, in the parts that are sent one after the other; `lines` are further header
 * lines, without their ends.
 */
export const partsOf = (
  { body, headers, lineEnd = "\r\n", version = "1.1" }: FramingAttack,
  method: string,
  path: string,
  lines: ReadonlyArray<string> = []
): ReadonlyArray<Buffer> => {
  const first = [`${method} ${path} HTTP/${version}`, "host: data-import.test", ...lines]
  const head = first.map((line) => line + lineEnd).join("")
  return [`${head}${headers}`, lineEnd, body].map((part) => Buffer.from(part, "latin1"))
}
