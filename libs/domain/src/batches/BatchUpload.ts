/**
 * Receives the lines of a batch as they arrive. Committed lines stay, however the upload ends.
 * Source: docs/contract/batches.md#upload.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { ExternalAccountNumber } from "../accounts/Account.ts"
import { BatchId, stateOf, takesLines } from "./Batch.ts"
import { BatchLimits } from "./BatchLimits.ts"
import type { ReceivedLine } from "./BatchLine.ts"
import { LineSplitter, type SplitLine } from "./LineSplitter.ts"
import type { ApiKeyId, Caller } from "../suppliers/Organisation.ts"
import { type Appending, Batches, type UploadNumber } from "./Batches.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import {
  BatchLineDiffers,
  BatchLineGap,
  BatchStateConflict,
  BatchUploadSuperseded,
  type Failure,
  KeyRevoked,
  limitExceeded,
  NotFound,
  unavailable
} from "../requests/Failure.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import { isObject } from "../schema/Json.ts"
import { parseBytesInSteps } from "../schema/JsonBytes.ts"
import { finish, inTimeSlices, type Steps } from "../support/Steps.ts"

export interface Received {
  readonly lines_received: number
}

export class BatchUpload extends Context.Service<
  BatchUpload,
  {
    /**
     * Stores the lines of the body, the first of which has the number `fromLine`. If the body
     * fails, the complete lines are stored first, and then this fails with its error.
     */
    readonly receive: <E>(
      caller: Caller,
      batch: string,
      fromLine: number,
      body: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<Received, E | Failure>
  }
>()("@data-import/domain/BatchUpload") {}

/** Lines are stored together up to this number or size, whichever comes first. */
const linesAtOnce = 1_000
const bytesAtOnce = 1024 * 1024

/** How often the lines of a slow upload are stored, and its key is checked again. */
const storeEvery = Duration.seconds(5)

/** The bytes of CRLF. */
const longestLineEnd = 2

/** Up to this size the platform's parser is used: it is faster, but blocks on some long texts. */
const longLine = 64 * 1024

const numberField = '"external_account_number"'

const decoder = new TextDecoder()
const batchId = Schema.decodeUnknownOption(BatchId)
const accountNumber = Schema.decodeUnknownOption(ExternalAccountNumber)

/**
 * Whether the text may have `external_account_number` more than once, also with escapes. The
 * platform's parser would keep the last one.
 */
const mayRepeatNumber = (text: string): boolean => {
  const first = text.indexOf(numberField)
  return text.includes(numberField, first + 1) || /\\u00[5-7]/i.test(text)
}

const parseShort = (bytes: Uint8Array): unknown => {
  const text = decoder.decode(bytes)
  if (mayRepeatNumber(text)) return Result.getOrNull(finish(parseBytesInSteps(bytes)))
  try {
    return JSON.parse(text)
  } catch {
    // A line that is not JSON names no account. Only this line fails, when it is run.
    return null
  }
}

/** The number in the line, or in the payload that it wraps. A line with two names none. */
const numberIn = (line: Readonly<Record<string, unknown>>): unknown => {
  const { external_account_number: outer, payload } = line
  if (!isObject(payload)) return outer
  const { external_account_number: inner } = payload
  return outer === undefined || outer === inner ? inner : null
}

const isLong = (bytes: SplitLine): bytes is Uint8Array => bytes !== null && bytes.length > longLine

/** Reads the account number that a line names. */
export function* receiveLineInSteps(bytes: SplitLine): Steps<ReceivedLine> {
  if (bytes === null) return { bytes, externalAccountNumber: null }
  const line = isLong(bytes) ? Result.getOrNull(yield* parseBytesInSteps(bytes)) : parseShort(bytes)
  const externalAccountNumber = isObject(line)
    ? Option.getOrNull(accountNumber(numberIn(line)))
    : null
  return { bytes, externalAccountNumber }
}

/** The line with the account number that it names. */
const receivedLine = (bytes: SplitLine): Effect.Effect<ReceivedLine> =>
  isLong(bytes)
    ? inTimeSlices(() => receiveLineInSteps(bytes))
    : Effect.sync(() => finish(receiveLineInSteps(bytes)))

const receivedBy = (appending: Appending, limits: BatchLimits): Result.Result<number, Failure> => {
  switch (appending._tag) {
    case "Appended":
      return Result.succeed(appending.received)
    case "Superseded":
      return Result.fail(new BatchUploadSuperseded())
    case "NotOpen":
      return Result.fail(new BatchStateConflict({ state: stateOf(appending.batch) }))
    case "Gap":
      return Result.fail(new BatchLineGap({ received: appending.received }))
    case "Differs":
      return Result.fail(new BatchLineDiffers({ line: appending.line }))
    case "KeyInvalid":
      return Result.fail(new KeyRevoked())
    case "LimitExceeded":
      return Result.fail(limitExceeded(appending.of, limits))
  }
}

/** One upload: the lines that are not stored yet, and the number of lines of the batch. */
class Upload {
  readonly #batches: Batches["Service"]
  readonly #limits: BatchLimits
  readonly #id: BatchId
  readonly #apiKey: ApiKeyId
  readonly #number: UploadNumber
  readonly #splitter = new LineSplitter()
  #next: number
  #received: number
  #waiting: Array<ReceivedLine> = []
  #bytes = 0
  /** What the body has had, without line ends. */
  #sent = 0
  #storedAt: DateTime.Utc

  constructor(
    batches: Batches["Service"],
    limits: BatchLimits,
    {
      apiKey,
      from,
      id,
      now,
      number,
      received
    }: Record<"from" | "number" | "received", number> & {
      readonly id: BatchId
      readonly apiKey: ApiKeyId
      readonly now: DateTime.Utc
    }
  ) {
    this.#storedAt = now
    this.#batches = batches
    this.#limits = limits
    this.#id = id
    this.#apiKey = apiKey
    this.#number = number
    this.#next = from
    this.#received = received
  }

  get received(): number {
    return this.#received
  }

  /**
   * Adds bytes. Also stores the complete lines if nothing was stored for `storeEvery`. Lines that
   * are too long are not stored, so what a body sends is limited as well as what a batch stores.
   */
  add(bytes: Uint8Array): Effect.Effect<void, Failure | StorageUnavailable> {
    const lines = this.#splitter.feed(bytes)
    this.#sent += bytes.length - lines.length * longestLineEnd
    if (this.#sent > this.#limits.bytes + longestLineEnd) {
      const refused = Effect.fail(limitExceeded("lines", this.#limits))
      return Effect.andThen(this.#addLines(lines), Effect.andThen(this.store(), refused))
    }
    return Effect.andThen(
      this.#addLines(lines),
      Effect.flatMap(DateTime.now, (now) =>
        DateTime.isGreaterThan(now, DateTime.addDuration(this.#storedAt, storeEvery))
          ? this.store()
          : Effect.void
      )
    )
  }

  /** Stores all that has arrived, including a last line without a line break. */
  end(): Effect.Effect<void, Failure | StorageUnavailable> {
    return Effect.andThen(this.#addLines(this.#splitter.end()), this.store())
  }

  /** Stores the complete lines, even if the client disconnects meanwhile. */
  store(): Effect.Effect<void, Failure | StorageUnavailable> {
    return Effect.suspend(() => {
      const lines = this.#waiting
      this.#waiting = []
      this.#bytes = 0
      return this.#append(lines)
    }).pipe(Effect.uninterruptible)
  }

  /** Stores the lines. If they exceed a limit, those up to it are stored. */
  #append(lines: ReadonlyArray<ReceivedLine>): Effect.Effect<void, Failure | StorageUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const at = yield* DateTime.now
      this.#storedAt = at
      const appending = yield* this.#batches.append({
        id: this.#id,
        apiKey: this.#apiKey,
        upload: this.#number,
        from: this.#next,
        lines,
        at
      })
      if (appending._tag === "LimitExceeded" && lines.length > 1) {
        const half = Math.ceil(lines.length / 2)
        yield* this.#append(lines.slice(0, half))
        return yield* this.#append(lines.slice(half))
      }
      this.#received = yield* Effect.fromResult(receivedBy(appending, this.#limits))
      this.#next += lines.length
    })
  }

  #addLines(lines: ReadonlyArray<SplitLine>) {
    return Effect.forEach(
      lines,
      (bytes) =>
        Effect.gen({ self: this }, function* () {
          this.#waiting.push(yield* receivedLine(bytes))
          this.#bytes += bytes?.length ?? 0
          if (this.#waiting.length >= linesAtOnce || this.#bytes >= bytesAtOnce) {
            yield* this.store()
          }
        }),
      { discard: true }
    )
  }
}

const make = Effect.gen(function* () {
  const batches = yield* Batches
  const limits = yield* BatchLimits

  const begin = Effect.fnUntraced(function* (caller: Caller, named: string, from: number) {
    const id = batchId(named)
    if (Option.isNone(id)) return yield* new NotFound()
    const batch = yield* batches.find(caller.organisation, id.value)
    if (Option.isNone(batch)) return yield* new NotFound()
    yield* RequestFacts.noteBatch(batch.value)
    if (!takesLines(batch.value)) {
      return yield* new BatchStateConflict({ state: stateOf(batch.value) })
    }
    const number = yield* batches.beginUpload(id.value)
    const { received } = batch.value.counts
    const { apiKey } = caller
    const now = yield* DateTime.now
    return new Upload(batches, limits, { id: id.value, apiKey, number, from, received, now })
  })

  const receive = Effect.fnUntraced(
    function* <E>(
      caller: Caller,
      named: string,
      fromLine: number,
      body: Stream.Stream<Uint8Array, E>
    ): Effect.fn.Return<Received, E | Failure | StorageUnavailable> {
      const upload = yield* begin(caller, named, fromLine)
      const pulled = Stream.map(body, Result.succeed).pipe(
        Stream.catch((failure) => Stream.succeed(Result.fail(failure)))
      )
      yield* Stream.runForEach(pulled, (part) =>
        Result.isSuccess(part)
          ? upload.add(part.success)
          : Effect.andThen(upload.store(), Effect.fail(part.failure))
      ).pipe(Effect.onInterrupt(() => Effect.ignore(upload.store())))
      yield* upload.end()
      return { lines_received: upload.received }
    },
    (effect) => Effect.catchIf(effect, isStorageUnavailable, () => Effect.fail(unavailable))
  )

  return BatchUpload.of({ receive })
})

const isStorageUnavailable = (failure: unknown): failure is StorageUnavailable =>
  isObject(failure) && failure["_tag"] === "StorageUnavailable"

/** Needs the storage of batches. */
export const layer = Layer.effect(BatchUpload, make)
