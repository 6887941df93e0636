/**
 * A real PostgreSQL without an installation, from binaries that come as an npm package: for the
 * local run and the tests. The server outlives a process that dies, so a start adopts one that
 * still runs on the data directory. Nothing here uses Effect's clock, because a test that stops
 * time must not stop PostgreSQL.
 */
import { Data, Effect, Redacted, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createConnection, createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { temporaryBeside, type PostgresFolder, prepareFolder } from "./PostgresFolder.ts"
import { hasProc, isServerOf } from "./processes.ts"
import { temporaryDataDir } from "./temporaryFolder.ts"

/** PostgreSQL cannot run here; the message says what to do about it. */
export class PostgresDidNotStart extends Data.TaggedError("PostgresDidNotStart")<{
  readonly message: string
  readonly cause?: unknown
}> {}

export interface EmbeddedPostgres {
  /** The URL of the superuser, at 127.0.0.1, with the password. */
  readonly url: Redacted.Redacted
  readonly pid: number
  /** Whether the server was already running. */
  readonly adopted: boolean
  /**
   * Restarts the server, at the same port, whenever it has ended. Never succeeds; fails after
   * several failed tries in a row, with growing pauses. A restarted server ends with the same
   * scope.
   */
  readonly supervise: Effect.Effect<never, PostgresDidNotStart>
}

export interface Options {
  /** Made if it does not exist. An existing one keeps its content. */
  readonly dataDir: string
  /** A free port unless given; a server that is already running keeps its port. */
  readonly port?: number | undefined
  /** What the end of the scope does to a server that was already running; `stop` unless given. */
  readonly whenAdopted?: "stop" | "leave" | undefined
  /**
   * False for a new data directory whose server never waits for the disk, which makes databases
   * several times as fast. Such a server keeps its data when it is killed, but not when the machine
   * loses power.
   */
  readonly durable?: boolean | undefined
  /** Settings of a new data directory that are not PostgreSQL's defaults. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

const superuser = "postgres"
const passwordFile = "superuser-password"
const logFile = "postgres.log"
const startLimitMillis = 30_000
const stopLimitMillis = 20_000

/** Before each try to start a server again. */
const restartPauses = [100, 500, 1_000, 2_000, 4_000]
/** The interval of checks whether a server has ended. `ps` takes longer than `/proc`. */
const endedPollMillis = hasProc ? 100 : 1_000
/** A server that ends sooner than this after its start counts as a failed try. */
const stableMillis = 60_000

/**
 * Starts or adopts the server of a data directory; the end of the scope stops it and waits for its
 * end.
 */
export const start = (
  options: Options
): Effect.Effect<EmbeddedPostgres, PostgresDidNotStart, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(async () => {
      const folder = prepareFolder(options.dataDir)
      await initialise(folder, options)
      const running = await runOrAdopt(folder, options.port, 5)
      const password = readFileSync(join(folder.data, passwordFile), "utf8")
      const url = `postgres://${superuser}:${password}@127.0.0.1:${running.port}/postgres`
      return { folder, url: Redacted.make(url), server: { running } }
    }),
    ({ folder, server: { running } }) =>
      running.adopted && options.whenAdopted === "leave"
        ? Effect.void
        : Effect.promise(() => stop(running.pid, folder.data))
  ).pipe(
    Effect.map(({ folder, server, url }) => {
      const { adopted, pid } = server.running
      return { url, pid, adopted, supervise: supervise(folder, server) }
    })
  )

/** Whole pages in the log repair those that a killed server has written in part. */
const settingsOfTemporary = { full_page_writes: "off" }

/** A separate server that ends with the scope, and that nobody kills. */
export const temporary: Effect.Effect<EmbeddedPostgres, PostgresDidNotStart, Scope.Scope> =
  Effect.flatMap(temporaryDataDir(), (dataDir) =>
    start({ dataDir, durable: false, settings: settingsOfTemporary })
  )

/** The server as it runs now, which is another process after each restart. */
interface Server {
  running: Running
}

const ended = (pid: number, data: string): Effect.Effect<void> =>
  Effect.promise(async (signal) => {
    while (!signal.aborted && isServerOf(data, pid)) await delay(endedPollMillis)
  })

/**
 * One try; returns the server's output. Waits for a begun start, so that the end of the scope finds
 * the process.
 */
const restart = (folder: PostgresFolder, server: Server): Effect.Effect<string> =>
  Effect.uninterruptible(
    Effect.promise(async () => {
      const { port } = server.running
      const output = await runOrAdopt(folder, port, 1).then(
        () => lastWords(folder.data),
        (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
      )
      // A server that does not answer yet may be recovering. One at another port belongs to an
      // operator command, and ends with it.
      const found = postmaster(folder.data)
      if (found?.port === port) server.running = { pid: found.pid, port, adopted: false }
      return output
    })
  )

const supervise = Effect.fnUntraced(function* (
  folder: PostgresFolder,
  server: Server
): Effect.fn.Return<never, PostgresDidNotStart> {
  let tries = 0
  let last = ""
  while (true) {
    const since = performance.now()
    yield* ended(server.running.pid, folder.data)
    if (performance.now() - since > stableMillis) tries = 0
    const pause = restartPauses[tries++]
    if (pause === undefined) {
      const message = `PostgreSQL ended and could not be started again. ${last}`
      return yield* new PostgresDidNotStart({ message })
    }
    yield* Effect.logWarning("PostgreSQL has ended; it is started again")
    yield* Effect.promise(() => delay(pause))
    last = yield* restart(folder, server)
  }
})

const attempt = <A>(evaluate: () => Promise<A>): Effect.Effect<A, PostgresDidNotStart> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) =>
      new PostgresDidNotStart({
        message: cause instanceof Error ? cause.message : String(cause),
        cause
      })
  })

/**
 * Makes the data directory under a temporary name and renames it, so there is never a partial one.
 */
const initialise = async (
  { data, native, runner }: PostgresFolder,
  { durable = true, settings = {} }: Options
): Promise<void> => {
  if (existsSync(join(data, "PG_VERSION"))) return
  if (existsSync(data) && readdirSync(data).length > 0) {
    throw new Error(`${data} is neither empty nor the data directory of a PostgreSQL`)
  }
  const temporary = temporaryBeside(data, runner)
  try {
    const password = join(temporary, "password")
    writeFileSync(password, randomBytes(24).toString("hex"), { mode: 0o600 })
    if (runner !== null) chownSync(password, runner.uid, runner.gid)
    const cluster = join(temporary, "cluster")
    await run({ data: temporary, native, runner }, "initdb", [
      `--pgdata=${handedOver(temporary)}/cluster`,
      `--username=${superuser}`,
      `--pwfile=${handedOver(temporary)}/password`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
      ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
      ...(durable ? [] : ["--no-sync", "--set=fsync=off"])
    ])
    renameSync(password, join(cluster, passwordFile))
    renameSync(cluster, data)
  } catch (cause) {
    // Another process may have finished first; its data directory is as good.
    if (!existsSync(join(data, "PG_VERSION"))) throw cause
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const environment = { PATH: "/usr/bin:/bin", TZ: "UTC", LC_ALL: "C" }

/**
 * The path by which a process reaches the folder that it inherits open. On Linux it then needs no
 * access to the folders above.
 */
const handedOver = (data: string): string => (hasProc ? "/proc/self/fd/3" : data)

/** Starts a binary that inherits `folder.data` open. */
const spawnIn = (
  { data, native, runner }: PostgresFolder,
  binary: string,
  args: ReadonlyArray<string>,
  options: { readonly output: "ignore" | number; readonly errors: "pipe" | number }
): ChildProcess => {
  const directory = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return spawn(join(native, "bin", binary), args, {
      ...runner,
      cwd: "/",
      env: environment,
      // In a separate session, so that Ctrl-C stops it only through the end of the scope.
      detached: true,
      stdio: ["ignore", options.output, options.errors, directory]
    })
  } finally {
    closeSync(directory)
  }
}

const run = (folder: PostgresFolder, binary: string, args: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    const child = spawnIn(folder, binary, args, { output: "ignore", errors: "pipe" })
    const errors: Array<Buffer> = []
    child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk))
    child.once("error", reject)
    child.once("close", (code) => {
      if (code === 0) return resolve()
      reject(new Error(`${binary} failed: ${Buffer.concat(errors).toString("utf8").trim()}`))
    })
  })

interface Running {
  readonly pid: number
  readonly port: number
  readonly adopted: boolean
}

const runOrAdopt = async (
  folder: PostgresFolder,
  port: number | undefined,
  attempts: number
): Promise<Running> => {
  const deadline = Date.now() + startLimitMillis
  let attemptsLeft = attempts
  let own: Child | undefined
  while (Date.now() < deadline) {
    const found = postmaster(folder.data)
    if (found !== null && isServerOf(folder.data, found.pid)) {
      if (found.ready && (await answers(found.port))) {
        return { pid: found.pid, port: found.port, adopted: found.pid !== own?.pid }
      }
    } else if (own === undefined || own.ended()) {
      // Resources of a killed server's backends are free only once the backends have noticed its
      // end.
      if (attemptsLeft-- === 0) {
        throw new Error(`PostgreSQL does not start on ${folder.data}: ${lastWords(folder.data)}`)
      }
      if (found !== null) rmSync(join(folder.data, "postmaster.pid"), { force: true })
      if (own !== undefined) await delay(200)
      own = launch(folder, port ?? (await freePort()))
    }
    await delay(10)
  }
  throw new Error(`PostgreSQL on ${folder.data} does not answer: ${lastWords(folder.data)}`)
}

interface Child {
  readonly pid: number | undefined
  readonly ended: () => boolean
}

const launch = (folder: PostgresFolder, port: number): Child => {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    // Terse, because the details of an error may quote personal data.
    log_error_verbosity: "terse",
    log_min_error_statement: "panic",
    log_checkpoints: "off"
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const log = openSync(join(folder.data, logFile), "a")
  const child = spawnIn(folder, "postgres", ["-D", handedOver(folder.data), ...args], {
    output: log,
    errors: log
  })
  closeSync(log)
  child.unref()
  let ended = false
  child.once("exit", () => (ended = true))
  child.once("error", () => (ended = true))
  return { pid: child.pid, ended: () => ended }
}

const lastWords = (data: string): string => {
  const log = join(data, logFile)
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").slice(-4).join(" | ") : ""
}

interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** Null if the file does not exist: a server that ends may delete it at any moment. */
const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null
    throw cause
  }
}

/** The content of the server's lock file; the file may outlive the server. */
const postmaster = (data: string): Postmaster | null => {
  const lines = textOf(join(data, "postmaster.pid"))?.split("\n")
  if (lines === undefined) return null
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === "ready" }
}

/** Whether a PostgreSQL answers at the port: it replies at once to a request for TLS. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => settle(false))
    socket.once("error", () => settle(false))
    socket.once("data", (reply) => settle(/^[NS]/.test(reply.toString("latin1"))))
    socket.once("connect", () => {
      socket.write(Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f))
    })
  })

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0)
      )
    })
  })

/** Fast shutdown: open transactions are rolled back, what was committed is safe. */
const stop = async (pid: number, data: string): Promise<void> => {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!isServerOf(data, pid)) return
    process.kill(pid, signal)
    const deadline = Date.now() + stopLimitMillis
    while (isServerOf(data, pid) && Date.now() < deadline) await delay(10)
  }
}
