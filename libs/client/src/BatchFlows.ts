/**
 * The flows of a batch, built from its operations: upload any number of lines, follow the counts,
 * and read the results while lines end.
 * Source: docs/contract/batches.md.
 */
import { Effect, Option, Stream } from "effect"
import { longestWait } from "@data-import/api/Limits"
import { type Part, partsOf, type Source } from "./BatchParts.ts"
import type { Answered } from "./Calls.ts"
import { ConnectionFailed } from "./Errors.ts"
import type { Answer, ErrorOf, Operations } from "./Operations.ts"
import { delayAfter } from "./Retries.ts"

export type Batch = Answer<"batches", "getBatch">
export type LineResult =
  Answer<"batches", "listBatchResults"> extends Stream.Stream<infer Line, infer _E> ? Line : never

type GetError = ErrorOf<"batches", "getBatch">
type SendError = ErrorOf<"batches", "sendBatchLines"> | GetError
type ResultsError = ErrorOf<"batches", "listBatchResults">

export interface UploadOptions {
  /**
   * Whether the batch may have lines of this source already. The upload then continues after them,
   * and fails with `batch_line_differs` if the last of them differs in the source.
   */
  readonly resume?: boolean
  /** About how many bytes are sent in a request; 4 MiB unless given. */
  readonly partBytes?: number
  /** Whether the parts are compressed for the transfer. */
  readonly gzip?: boolean
  /** How long a part may take, all attempts together, in milliseconds; 10 minutes unless given. */
  readonly partDeadline?: number
  /** Called with the number of committed lines. */
  readonly onReceived?: (lines: number) => void
}

type CreatePayload = Parameters<Operations["batches"]["createBatch"]>[0]["payload"]["payload"]

export interface ResultsOptions {
  /** Only results after this line. */
  readonly afterLine?: number
  readonly outcome?: "SUCCEEDED" | "ALREADY" | "FAILED" | "CANCELLED"
  /** Whether to wait for the lines that are not done yet. */
  readonly follow?: boolean
}

export interface BatchFlows {
  /** Sends lines to an open batch, and returns how many are committed. The source is read once. */
  readonly upload: <E = never>(
    batch_id: string,
    lines: Stream.Stream<Source, E>,
    options?: UploadOptions
  ) => Effect.Effect<number, E | SendError>
  /** Creates a batch, uploads its lines and starts it. */
  readonly send: <E = never>(
    payload: CreatePayload,
    lines: Stream.Stream<Source, E>,
    options?: Omit<UploadOptions, "resume">
  ) => Effect.Effect<
    Batch,
    E | SendError | ErrorOf<"batches", "createBatch"> | ErrorOf<"batches", "startBatch">
  >
  /** The batch now and at each change, at most once a second, until its last line has ended. */
  readonly follow: (batch_id: string) => Stream.Stream<Batch, GetError>
  /**
   * One result for each line, in order. After a broken connection it continues after the last one.
   */
  readonly results: (
    batch_id: string,
    options?: ResultsOptions
  ) => Stream.Stream<LineResult, ResultsError>
}

const defaultPartBytes = 4 * 1024 * 1024
const defaultPartDeadline = 10 * 60_000

/** How many results are read, and held in memory, at once. */
const resultsPage = 2_000

const gzipped = (bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const packed = new Blob([bytes as Uint8Array<ArrayBuffer>])
      .stream()
      .pipeThrough(new CompressionStream("gzip"))
    return new Uint8Array(await new Response(packed).arrayBuffer())
  })

const uploader = ({ batches }: Operations): BatchFlows["upload"] =>
  Effect.fnUntraced(function* (batch_id, lines, options = {}) {
    const { gzip = false, onReceived, partBytes = defaultPartBytes, resume = false } = options
    const { partDeadline: deadline = defaultPartDeadline } = options
    const params = { batch_id }
    let received = resume ? (yield* batches.getBatch({ params })).counts.received : 0
    // The last line is sent again: it differs if the source is not the same.
    const firstLine = Math.max(1, received)
    const headers = gzip ? { "content-encoding": "gzip" } : {}
    const send = Effect.fnUntraced(function* ({ bytes, from }: Part) {
      const payload = gzip ? yield* gzipped(bytes) : bytes
      const query = { from_line: from }
      const answer = yield* batches.sendBatchLines(
        { params, query, payload },
        { deadline, headers }
      )
      received = Math.max(received, answer.lines_received)
      onReceived?.(received)
    })
    yield* partsOf(lines, { firstLine, partBytes }).pipe(
      // The next part is read and cut while one is sent.
      Stream.buffer({ capacity: 1 }),
      Stream.runForEach(send)
    )
    return received
  })

const isSame = ({ statusCode }: Answered<unknown>): boolean => statusCode === 304

const follower =
  ({ batches }: Operations): BatchFlows["follow"] =>
  (batch_id) => {
    /** Only a batch that has changed; the service answers 304 when the wait is over. */
    const next = (etag: string | undefined): Effect.Effect<Answered<Batch>, GetError> =>
      batches.getBatch
        .withResponse(
          { params: { batch_id }, query: etag === undefined ? {} : { wait: longestWait } },
          etag === undefined ? {} : { headers: { "if-none-match": etag } }
        )
        .pipe(
          Effect.flatMap((answered) =>
            isSame(answered) ? next(etag) : Effect.succeed(answered as Answered<Batch>)
          )
        )
    return Stream.paginate(undefined as string | undefined, (etag) =>
      Effect.map(next(etag), ({ headers, value }) => [
        [value],
        value.finished_at === null ? Option.some(headers["etag"]) : Option.none()
      ])
    )
  }

interface Position {
  readonly after: number
  /** How many connections have broken since the last result. */
  readonly broken: number
  /** How many lines had ended when nothing more could be read. */
  readonly ended: number
}

const endedOf = ({ counts, finished_at }: Batch): number =>
  finished_at === null ? counts.received - counts.remaining : Infinity

/** The lines of a page, and why the connection broke before its end, if it did. */
const collected = <A, E>(page: Stream.Stream<A, E>) => {
  const lines: Array<A> = []
  return Stream.runForEach(page, (line) => Effect.sync(() => void lines.push(line))).pipe(
    Effect.as(undefined),
    Effect.catch((error) =>
      error instanceof ConnectionFailed ? Effect.succeed(error) : Effect.fail(error)
    ),
    Effect.map((broken) => ({ broken, lines }))
  )
}

const resultsReader =
  ({ batches }: Operations, follow: BatchFlows["follow"], retries: number): BatchFlows["results"] =>
  (batch_id, { afterLine = 0, follow: isFollowed = false, outcome } = {}) => {
    /** How many lines have ended, as soon as that changes. */
    const later = (position: Position) =>
      follow(batch_id).pipe(
        Stream.map(endedOf),
        Stream.filter((ended) => ended !== position.ended),
        Stream.runHead,
        Effect.map(Option.map((ended): Position => ({ ...position, ended })))
      )
    const next = Effect.fnUntraced(function* (position: Position) {
      const { after, broken: count } = position
      const query = { after_line: after, limit: resultsPage }
      const page = yield* batches.listBatchResults.withResponse({
        params: { batch_id },
        query: outcome === undefined ? query : { ...query, outcome }
      })
      const { broken, lines } = yield* collected(page.value)
      if (broken !== undefined) {
        const failed = lines.length > 0 ? 1 : count + 1
        if (failed > retries) return yield* Effect.fail(broken)
        yield* Effect.sleep(yield* delayAfter(broken, failed))
        const last = lines.at(-1)?.line ?? after
        return [lines, Option.some({ ...position, after: last, broken: failed })] as const
      }
      if (page.headers["results-complete"] === "true") return [lines, Option.none()] as const
      const through = Number(page.headers["results-through"])
      const further = { ...position, after: through, broken: 0 }
      if (through > after) return [lines, Option.some(further)] as const
      return [lines, isFollowed ? yield* later(position) : Option.none<Position>()] as const
    })
    return Stream.paginate({ after: afterLine, broken: 0, ended: -1 }, next)
  }

/** The flows of these operations. */
export const batchFlows = (
  operations: Operations,
  { retries }: { readonly retries: number }
): BatchFlows => {
  const { batches } = operations
  const follow = follower(operations)
  const upload = uploader(operations)
  return {
    upload,
    follow,
    results: resultsReader(operations, follow, retries),
    send: (payload, lines, options) =>
      Effect.gen(function* () {
        const { batch_id } = yield* batches.createBatch({ payload: { payload } })
        const total_lines = yield* upload(batch_id, lines, options)
        return yield* batches.startBatch({
          params: { batch_id },
          payload: { payload: { total_lines } }
        })
      })
  }
}
