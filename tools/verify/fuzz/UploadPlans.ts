/**
 * The fixed cases of uploads: bodies that are not NDJSON, that are compressed, broken off or
 * stalled, and that begin at the wrong line. Each fills a new batch, which it cancels at its end.
 */
import { gzipSync } from "node:zlib"
import type { Expectation, Framing, Kind, Plan, Request, Step } from "./Case.ts"
import { get, plan, post } from "./Case.ts"
import { answers, both, errors, has } from "./Expectation.ts"
import { batchesPath, batchPath, fullBatch, openBatch, put } from "./FixedBatches.ts"
import { get as valueAt } from "@data-import/domain/testing/wire"
import { rivalSupplier } from "./TenantNames.ts"

/** The batches of this organisation belong to these cases only. */
const who = "rival"

/** The steps that a case takes with a new batch, whose path is given; then it is cancelled. */
export const inNewBatch = (
  settings: object,
  steps: (path: string) => ReadonlyArray<Step>
): ReadonlyArray<Step> => [
  {
    request: post(batchesPath, { payload: { import_supplier: rivalSupplier, ...settings } }, who),
    expect: answers("201"),
    next: ({ value }) => {
      const path = batchPath(String(valueAt(value, "batch_id")))
      const cancel = { ...get(`${path}cancel/`, who), method: "POST" }
      return [...steps(path), { request: cancel, expect: answers("200", "409") }]
    }
  }
]

/** The service notices a broken connection late, so this retries. */
const hasLines = (path: string, lines: number, tries = 5): Step => {
  const expect = both(answers("200"), has("counts.received", lines))
  if (tries === 0) return { request: get(path, who), expect }
  const wait = { ...get(`${path}?wait=1`, who), headers: [["if-none-match", "*"]] as const }
  return {
    request: get(path, who),
    expect: answers("200"),
    next: (reply) =>
      expect([reply]).length === 0
        ? []
        : [{ request: wait, expect: answers("200", "304") }, hasLines(path, lines, tries - 1)]
  }
}

interface Sent {
  readonly name: string
  readonly kind?: Kind
  readonly body: string | Uint8Array
  readonly more?: Partial<Request>
  /** The query, with its question mark. */
  readonly query?: string
  readonly times?: number
}

/** Several uploads to one batch, and how many lines it has then. */
const uploads = (
  name: string,
  lines: number,
  ...sent: ReadonlyArray<readonly [Omit<Sent, "name">, Expectation]>
): Plan => ({
  operation: "sendBatchLines",
  kind: sent.at(-1)?.[0].kind ?? "bytes",
  name,
  steps: () =>
    inNewBatch({ operation: "STAGE" }, (path) => [
      ...sent.map(([{ body, more, query = "", times = 1 }, expect]) => ({
        request: { ...put(`${path}lines/${query}`, body, who), ...more },
        expect,
        times
      })),
      hasLines(path, lines)
    ])
})

const line = '{"external_account_number":"A"}\n'

const received = (lines: number): Expectation => both(answers("200"), has("lines_received", lines))
const gzipped = [
  ["content-type", "application/x-ndjson"],
  ["content-encoding", "gzip"]
] as const

const tooLongLine = Buffer.alloc(11 * 1024 * 1024, "x")

const whole = (name: string, body: Sent["body"], lines: number, framing: Framing = "length") =>
  uploads(name, lines, [{ body, more: { framing } }, received(lines)])

const compressed = (name: string, body: Uint8Array, lines: number, expect: Expectation) =>
  uploads(name, lines, [{ body, more: { headers: gzipped } }, expect])

const noGzip = answers("400 parse_error")
const three = gzipSync(line.repeat(3))

/** Any bytes count as a line. */
const strangeLines: ReadonlyArray<Plan> = [
  whole("no bytes", "", 0),
  whole("empty lines", "\n\n\r\n\r\n", 4),
  whole("no JSON", "hello\n{\n}\n\0\n\xff\n[[[[\nnull\n1\n", 8),
  whole("bytes of no text", Buffer.from([0xff, 0xfe, 0x0a, 0xc0, 0x0a, 0x00, 0x0a, 0xed, 0xa0]), 4),
  whole("a mark of the byte order", `\ufeff${line}`, 1),
  whole("a line feed in a text", '{"a":"\n"}\n', 2),
  whole("a last line without its end", line.trimEnd(), 1),
  whole("a line that is too long", tooLongLine, 1),
  whole(
    "a line that is too long between others",
    Buffer.concat([Buffer.from(line), tooLongLine, Buffer.from(`\n${line}`)]),
    3,
    {
      chunk: 1_000_000
    }
  ),
  whole("bytes one by one", line.repeat(3), 3, { chunk: 1 }),
  whole("a deep line", `${"[".repeat(100_000)}\n${'{"a":'.repeat(100_000)}\n`, 2),
  compressed("gzip", three, 3, received(3)),
  compressed("gzip of nothing", gzipSync(""), 0, received(0)),
  compressed("a line of 30 MB in gzip", gzipSync(Buffer.alloc(30_000_000, " ")), 1, received(1))
]

/** Lines before the fault stay, unless decompression fails. */
const brokenBodies: ReadonlyArray<Plan> = [
  compressed("no gzip", Buffer.from(line), 0, noGzip),
  compressed("no bytes of gzip", Buffer.alloc(0), 0, noGzip),
  compressed("gzip cut in its head", three.subarray(0, 6), 0, noGzip),
  compressed("bytes after the gzip", Buffer.concat([three, Buffer.from("x")]), 3, noGzip),
  uploads("a body that stalls", 1, [
    { body: `${line}{"external_account_number":"B"}\n`, more: { framing: "stalled" } },
    answers("408 request_timeout")
  ]),
  uploads("a body that ends early", 1, [
    {
      body: `${line}{"external_account_number":"B"}\n`,
      more: { framing: "stalled", halfClosed: true }
    },
    answers("400 parse_error")
  ]),
  uploads("two uploads at once", 0, [
    { body: "{}\n", more: { framing: "stalled" }, times: 2 },
    (replies) =>
      replies
        .map(({ value }) => String(valueAt(value, "code")))
        .toSorted()
        .join() === "batch_upload_superseded,request_timeout"
        ? []
        : ["the older one should be superseded, and the newer one time out"]
  ])
]

const from = (text: string, expect: Expectation): Plan =>
  uploads(`from line ${text}`, 0, [
    { body: line, query: `?from_line=${text}`, kind: "mutant" },
    expect
  ])

const wrongStart = (text: string, code: string): Plan =>
  from(text, errors("400 request_failed_validation", `from_line ${code}`))

const places: ReadonlyArray<Plan> = [
  wrongStart("0", "min_value"),
  wrongStart("1000001", "max_value"),
  wrongStart("-1", "min_value"),
  wrongStart("1e3", "invalid"),
  wrongStart("", "invalid"),
  from("2", both(answers("409 batch_line_gap"), has("lines_received", 0))),
  uploads(
    "again, and further",
    3,
    [{ body: line }, received(1)],
    [{ body: `${line}{}\n{}\n` }, received(3)]
  ),
  uploads(
    "other bytes than before",
    2,
    [{ body: `${line}{}\n` }, received(2)],
    [
      { body: "{ }\n{}\n{}\n", query: "?from_line=2" },
      both(answers("409 batch_line_differs"), has("line", 2))
    ]
  )
]

const type = (name: string, ...headers: Request["headers"]): Plan =>
  uploads(name, 0, [{ body: line, more: { headers } }, answers("415 unsupported_media_type")])

const mediaTypes: ReadonlyArray<Plan> = [
  type("no media type"),
  type("JSON", ["content-type", "application/json"]),
  type("two media types", ["content-type", "application/x-ndjson, application/x-ndjson"]),
  ...["br", "deflate", "gzip, gzip", "identity, gzip", "zstd"].map((encoding) =>
    type(
      `announced as ${encoding}`,
      ["content-type", "application/x-ndjson"],
      ["content-encoding", encoding]
    )
  )
]

/** In the order in which they are sent. */
export const uploadPlans: ReadonlyArray<Plan> = [
  ...strangeLines,
  ...brokenBodies,
  ...places,
  ...mediaTypes,
  plan("sendBatchLines", "state", "more lines than a batch may have", [
    put(`${batchPath(fullBatch, "lines/")}?from_line=1000000`, "{}\n{}\n"),
    answers("409 batch_limit_exceeded")
  ]),
  plan("sendBatchLines", "who", "another's batch", [
    put(batchPath(openBatch, "lines/"), line, who),
    answers("404 not_found")
  ])
]
