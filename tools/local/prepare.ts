/**
 * The first part of `npm start`, which loads nothing of the system, so that it speaks at once. It
 * says what starts and where, tries the port, and builds the web part of the board or takes it from
 * the cache. It writes to standard error, because the local run prints its address to standard
 * output.
 */
import { spawnSync } from "node:child_process"
import { createServer } from "node:net"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const { DATA_DIR = ".data", PORT = "8080" } = process.env
const address = `http://127.0.0.1:${PORT}`

const introduction =
  PORT === "0"
    ? ["Data Import starts on a free port of this machine."]
    : [
        `Data Import starts on ${address}.`,
        `  documentation  ${address}/docs`,
        `  board          ${address}/board/, by a link that is printed below, or later by`,
        "                 npm run -s operator -- board link"
      ]

const notes = [
  `  API keys       ${join(DATA_DIR, "demo.json")}`,
  "  Ctrl-C stops everything, PostgreSQL included. The first start takes about half a minute."
]

/** Why the port cannot be used; undefined if it can, or if `PORT` is none, which main.ts reports. */
const refusedPort = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    if (!/^\d{1,5}$/.test(PORT)) return resolve(undefined)
    const server = createServer()
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(
        code === "EADDRINUSE"
          ? `Port ${PORT} is in use: stop what uses it, or choose another one with PORT.`
          : undefined
      )
    )
    server.listen(Number(PORT), "127.0.0.1", () => server.close(() => resolve(undefined)))
  })

const buildBoard = (): string | undefined => {
  const args = ["run", "board:build-web", "--output-style=static"]
  const { error, status, stderr, stdout } = spawnSync("nx", args, { cwd: root, encoding: "utf8" })
  if (error === undefined && status === 0) return undefined
  return `The web part of the board cannot be built.\n${error?.message ?? stdout + stderr}`
}

const failure = await refusedPort()
if (failure === undefined) console.error([...introduction, ...notes].join("\n"))
const refused = failure ?? buildBoard()
if (refused !== undefined) {
  console.error(refused)
  process.exitCode = 1
}
