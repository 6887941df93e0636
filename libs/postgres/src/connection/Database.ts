/**
 * The connection to PostgreSQL: a pool behind a circuit breaker and a bounded queue, and a function
 * that runs statements and classifies their failures. The other modules of this library define the
 * statements.
 */
import { PgClient } from "@effect/sql-pg"
import {
  Clock,
  Config,
  Context,
  Duration,
  Effect,
  Layer,
  Random,
  type Redacted,
  Result,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Settings from "@data-import/domain/support/Settings"
import { decoderOf } from "@data-import/domain/schema/Decoder"
import { invalid } from "@data-import/domain/schema/LeafDecoder"
import { finish, inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import * as Admission from "./Admission.ts"
import type { RunBatch } from "./BatchExecution.ts"
import * as Batcher from "./Batcher.ts"
import * as CircuitBreaker from "./CircuitBreaker.ts"
import * as ConnectionUrl from "./ConnectionUrl.ts"
import * as DatabaseClock from "./DatabaseClock.ts"
import { answeredWithin } from "./Deadline.ts"
import { withOwnRandom } from "./Jitter.ts"
import * as PoolClock from "./PoolClock.ts"
import { probe } from "./HealthProbe.ts"
import { isContended, readOnly, classifyFailures, StatementFailed, outageOf } from "./SqlFailure.ts"

export interface DatabaseSettings {
  /** In the form that `ConnectionUrl` allows. */
  readonly url: Redacted.Redacted
  /** The maximum number of open connections. The probe opens one more if requests keep them all. */
  readonly poolSize: number
  /**
   * The maximum duration of a statement, and so of a request while the database does not respond.
   */
  readonly statementTimeout: Duration.Duration
  /**
   * The maximum age of a connection; by default 30 minutes. It bounds how long a replaced server
   * that still responds is used.
   */
  readonly connectionMaxAge?: Duration.Duration
}

const defaultMaxAge = Duration.minutes(30)

/**
 * `DATABASE_URL`, `DATABASE_POOL_SIZE` (10), `DATABASE_STATEMENT_TIMEOUT` (20 seconds) and
 * `DATABASE_CONNECTION_MAX_AGE` (30 minutes).
 */
const settings: Config.Config<DatabaseSettings> = Config.all({
  url: ConnectionUrl.setting("DATABASE_URL").required,
  poolSize: Settings.integer("DATABASE_POOL_SIZE", { minimum: 1, maximum: 500 }).or(10),
  // Must be less than 60 seconds, after which the service closes an idle client connection.
  statementTimeout: Settings.duration("DATABASE_STATEMENT_TIMEOUT", {
    minimum: "100 millis",
    maximum: "50 seconds"
  }).or(Duration.seconds(20)),
  connectionMaxAge: Settings.duration("DATABASE_CONNECTION_MAX_AGE", {
    minimum: "10 seconds",
    maximum: "24 hours"
  }).or(defaultMaxAge)
})

type OfStatement = SqlError.SqlError | Schema.SchemaError

type Failure<E> = Exclude<E, OfStatement> | StorageUnavailable

type Run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, Failure<E>, R>

export class Database extends Context.Service<
  Database,
  {
    /** Makes statements. A statement alone is a transaction. */
    readonly sql: PgClient.PgClient
    /**
     * Runs statements, or a transaction, on a connection of the pool. Contended ones
     * (`isContended`) are repeated, and hold no connection in between.
     */
    readonly run: Run
    /** Repeats an effect while it fails as contended (`isContended`), with pauses. */
    readonly repeated: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Runs statements of a transaction that has begun. Contended ones are not repeated, because
     * PostgreSQL has ended the transaction.
     */
    readonly runOnce: Run
    /**
     * Makes writes that run in batches of one statement each. A contended batch is not repeated,
     * because the next batch would have to wait for it.
     */
    readonly batched: <Command, Answer>(
      batching: Batcher.BatchOptions<Command, Answer, OfStatement> & {
        /** `run` or `runOnce`, to run a command alone as `Batcher` does. */
        readonly alone?: Run
      }
    ) => (command: Command) => Effect.Effect<Answer, StorageUnavailable>
    /**
     * Makes reads that run in batches of one statement each. A read waits for no write, so one that
     * times out opens the circuit breaker. Reads of one turn of the event loop run together.
     */
    readonly batchedRead: <Command, Answer>(
      run: RunBatch<Command, Answer, OfStatement>
    ) => (command: Command) => Effect.Effect<Answer, StorageUnavailable>
    /** Runs a request that needs the database, or refuses it at once. */
    readonly admit: Admission.Admission["admit"]
    /** Whether writes are possible. It bypasses the queue of requests. */
    readonly ready: Effect.Effect<void, StorageUnavailable>
    /** The current state of the database and each later one. */
    readonly states: CircuitBreaker.Breaker["states"]
    /** How the connections for requests are used now. */
    readonly connections: Admission.Admission["connections"]
    /** The database's clock, measured before the first request is admitted. */
    readonly clock: Clock.Clock
  }
>()("@data-import/postgres/Database") {}

const connectTimeout = Duration.seconds(2)
/** Four times the expected wait at which requests are refused. */
const waitForConnection = Duration.seconds(8)
/** How long requests may keep all connections from the probe before it opens one of its own. */
const waitOfProbe = Duration.seconds(1)
/** If the breaker stays open for longer, every waiting request is rejected. */
const rejectWaitersAfter = Duration.millis(250)
/** The maximum number of concurrent batches of one kind of read. */
const readSlots = 2
/** The maximum number of reads in a statement. */
const maxReads = 64
/** The maximum wait of a statement for a lock. A longer wait holds no connection. */
const lockTimeout = Duration.millis(200)
/** How long contended statements are repeated. */
export const lockWait = Duration.seconds(5)
const pauses = Schedule.min([
  Schedule.exponential("10 millis"),
  Schedule.spaced("500 millis")
]).pipe(Schedule.jittered, Schedule.upTo({ duration: lockWait }))
/** A staged payload arrives in one message, and is at most a few times as large as a body. */
const maxMessageBytes = 64 * 1024 * 1024

const milliseconds = (duration: Duration.Duration): string => String(Duration.toMillis(duration))

/** Up to a tenth less, so that instances started together do not reconnect together. */
const jitteredMaxAge = ({ connectionMaxAge = defaultMaxAge }: DatabaseSettings) =>
  withOwnRandom(
    Effect.map(Random.next, (random) => Duration.times(connectionMaxAge, 1 - random / 10))
  )

const clientOf = (
  { poolSize, statementTimeout, url }: DatabaseSettings,
  connectionTTL: Duration.Duration
) =>
  PgClient.make({
    ...ConnectionUrl.connectionTo(url),
    applicationName: "data-import",
    maxConnections: poolSize,
    connectionTTL,
    connectTimeout,
    keepAlive: Duration.seconds(10),
    maxMessageSize: maxMessageBytes,
    startupParameters: {
      statement_timeout: milliseconds(statementTimeout),
      lock_timeout: milliseconds(lockTimeout),
      idle_in_transaction_session_timeout: milliseconds(statementTimeout),
      timezone: "UTC",
      // Every statement is short; compiling one takes longer than running it.
      jit: "off",
      // A plan that is made for an empty table is kept while the table grows, so it must use the
      // index from the start.
      enable_seqscan: "off"
    }
  })

/** Refuses all that wait, each time that the database has become unavailable. */
const endWaits = (
  states: CircuitBreaker.Breaker["states"],
  { refuseWaiting }: Admission.Admission
) =>
  states.pipe(
    Stream.debounce(rejectWaitersAfter),
    Stream.filter((state) => state !== "available"),
    Stream.runForEach(() => refuseWaiting)
  )

const isUnavailable = (failure: unknown): failure is StorageUnavailable =>
  failure instanceof StorageUnavailable

const isContendedStatement = (failure: unknown): failure is StorageUnavailable =>
  isUnavailable(failure) && isContended(failure)

/** Programs answer only that the request may be repeated, so the reason is for the log. */
const logRefusal = (failure: unknown): Effect.Effect<void> =>
  isUnavailable(failure) && failure.cause instanceof StatementFailed
    ? Effect.logWarning("a request is refused, since the database failed its statement").pipe(
        Effect.annotateLogs({ reason: failure.cause.reason, sql_state: failure.cause.sqlState })
      )
    : Effect.void

// Nearly all succeed at once, so a schedule is made for a failure only, which is its first input.
const repeated: Database["Service"]["repeated"] = (effect) =>
  Effect.catchIf(effect, isUnavailable, (failure) => {
    let tries = 0
    const again = Effect.suspend(() => (tries++ === 0 ? Effect.fail(failure) : effect))
    const retried = Effect.retry(again, { while: isContendedStatement, schedule: pauses })
    return withOwnRandom(Effect.tapError(retried, logRefusal))
  })

const batchers = ({
  admission,
  breaker,
  run,
  runOnce,
  scope
}: Pick<Database["Service"], "run" | "runOnce"> & {
  readonly admission: Admission.Admission
  readonly breaker: Admission.Breaking
  readonly scope: Scope.Scope
}): Pick<Database["Service"], "batched" | "batchedRead"> => ({
  batched: ({ alone, ...batching }) =>
    Batcher.make(
      {
        ...batching,
        run: (batch) => Effect.tapError(runOnce(batching.run(batch)), logRefusal),
        ...(alone && { alone: (batch) => alone(batching.run(batch)) })
      },
      admission,
      waitForConnection,
      scope
    ),
  batchedRead: (runBatch) =>
    Batcher.make(
      {
        collects: true,
        limits: { slots: readSlots, commands: maxReads },
        run: (commands) =>
          Effect.tapError(run(runBatch(commands)), (failure) =>
            breaker.open(outageOf(failure) ?? "not_answering")
          )
      },
      admission,
      waitForConnection,
      scope
    )
})

const make = Effect.fnUntraced(function* (config: DatabaseSettings) {
  const ownClock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const maxAge = yield* jitteredMaxAge(config)
  const { clock: poolClock, discardConnections } = PoolClock.make(ownClock, maxAge)
  // No connection is opened yet, so nothing can fail here.
  const connect = (to: DatabaseSettings) =>
    clientOf(to, maxAge).pipe(Effect.provideService(Clock.Clock, poolClock), Effect.orDie)
  const sql = yield* connect(config)
  const spare = yield* connect({ ...config, poolSize: 1 })
  const databaseClock = DatabaseClock.make(ownClock)
  const reserve = Effect.raceFirst(sql.reserve, Effect.delay(spare.reserve, waitOfProbe))
  const probing = probe({ sql: { reserve }, clock: databaseClock, discardConnections })
  const { isOpen, open, states } = yield* CircuitBreaker.make(probing)
  const breaker: Admission.Breaking = {
    isOpen,
    // The probe may use another connection than the failed statement.
    open: (trouble) =>
      Effect.andThen(trouble === "read_only" ? discardConnections : Effect.void, open(trouble))
  }
  const admission = Admission.make(
    { running: config.poolSize, waiting: config.poolSize * 64, wait: waitForConnection },
    breaker,
    outageOf
  )
  yield* Effect.forkScoped(endWaits(states, admission))
  // The server ends slow statements. This covers a server that no longer answers.
  const duration = Duration.sum(config.statementTimeout, Duration.seconds(1))
  const answered = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    classifyFailures(answeredWithin(effect, duration))
  const runOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) => admission.run(answered(effect))
  const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => repeated(runOnce(effect))
  const { batched, batchedRead } = batchers({ admission, breaker, run, runOnce, scope })
  const isReadOnly = sql`select where current_setting('transaction_read_only')::boolean`
  const ready = answered(isReadOnly).pipe(
    Effect.flatMap(({ length }) => (length > 0 ? Effect.fail(readOnly) : Effect.void))
  )
  const { clock } = databaseClock
  return Database.of({
    sql,
    run,
    repeated,
    runOnce,
    batched,
    batchedRead,
    ready,
    states,
    clock,
    connections: admission.connections,
    admit: admission.admit
  })
})

/** The database of these settings. Connects on first use, and again when needed. */
export const layerWith = (config: DatabaseSettings): Layer.Layer<Database> =>
  Layer.effect(Database, make(config)).pipe(Layer.provide(Reactivity.layer))

/** Makes the database's clock the clock of everything on this layer. */
export const layerClock: Layer.Layer<never, never, Database> = Layer.effect(
  Clock.Clock,
  Effect.map(Database, ({ clock }) => clock)
)

/** The database of the environment's settings. */
export const layer: Layer.Layer<Database, Config.ConfigError> = Layer.unwrap(
  Effect.map(settings, layerWith)
)

/** Up to this many rows are decoded without a pause. */
const fewRows = 8

/** Decodes the rows of a statement, in steps if there are many. */
export const rowsOf = <Row extends Schema.Codec<unknown, unknown>>(row: Row) => {
  const decodeValid = decoderOf(row)
  const decodeAny = Schema.decodeUnknownResult(row)
  const decodeOne = (one: unknown) => {
    const decoded = decodeValid(one)
    return decoded === invalid ? decodeAny(one) : Result.succeed(decoded)
  }
  function* decoding(
    rows: ReadonlyArray<unknown>
  ): Steps<Result.Result<Array<Row["Type"]>, Schema.SchemaError>> {
    const decoded: Array<Row["Type"]> = []
    for (const one of rows) {
      const result = decodeOne(one)
      if (Result.isFailure(result)) return Result.fail(result.failure)
      decoded.push(result.success)
      yield
    }
    return Result.succeed(decoded)
  }
  const decode = (rows: ReadonlyArray<unknown>) =>
    rows.length <= fewRows
      ? Effect.fromResult(finish(decoding(rows)))
      : Effect.flatMap(
          inTimeSlices(() => decoding(rows)),
          Effect.fromResult
        )
  return <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>) => Effect.flatMap(rows, decode)
}

/** Whether PostgreSQL can store the text. If it cannot store a key, no row has it. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** The text with a replacement for what PostgreSQL cannot store. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\u{FFFD}")
