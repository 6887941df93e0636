/** What a manager's browser asks of the board. */
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import type { Transcript } from "./Transcript.ts"

const supplier = "DEMO_ENERGY"
const migration = `/board/api/migrations/${supplier}/`

const reads: ReadonlyArray<string> = [
  "/board/",
  "/board/api/session/",
  "/board/api/teams/",
  "/board/api/migrations/",
  migration,
  `${migration}history/`,
  `${migration}cohorts/`,
  `${migration}batches/`,
  `${migration}forecasts/`,
  `${migration}problems/`,
  `${migration}sign-off/`,
  `${migration}undo/`,
  `${migration}summary.csv`,
  `${migration}balances.csv`,
  `${migration}corrections.csv`,
  `${migration}imports/`,
  `${migration}imports/?state=FAILED`,
  `${migration}imports/T-0001/`,
  `${migration}imports/nowhere/`,
  "/board/api/audit/?limit=20",
  "/board/api/migrations/NOWHERE/",
  "/board/api/nowhere/"
]

const writes: ReadonlyArray<readonly [path: string, body: object]> = [
  ["plan/", { points: [{ day: "2031-01-31", accounts: 10 }] }],
  ["cohort/", { cohort: "wave-1", external_account_numbers: ["T-0001"] }],
  ["process/", {}],
  ["sign-off/", {}],
  ["status/", { status: "PAUSED" }],
  ["status/", { status: "ONGOING" }],
  ["imports/T-0001/reveal/", {}]
]

/** The history is added up each second, so at first it lacks the latest imports. */
const isBehind = (history: unknown, present: unknown): boolean => {
  const { points } = history as { readonly points: ReadonlyArray<{ readonly staged: number }> }
  const { migration } = present as { readonly migration: { readonly total: number } }
  return points.at(-1)?.staged !== migration.total
}

const csrfIn = (text: string): string => /"csrf_token":"([^"]+)"/.exec(text)?.[1] ?? ""

/** Signs in by the link, and asks for every page's data. */
export const boardRequests = (link: string, baseUrl: string, transcript: Transcript) =>
  Effect.promise(async () => {
    const origin = new URL(baseUrl).origin
    let own: Record<string, string> = { origin }
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${origin}${path}`, {
        method,
        redirect: "manual",
        headers: { ...own, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const answer = await response.text()
      const { "set-cookie": cookie, ...headers } = Object.fromEntries(response.headers)
      transcript.add({
        method,
        path,
        body: body === undefined ? "" : JSON.stringify(body),
        status: response.status,
        headers,
        answer
      })
      return { answer, cookie }
    }
    await ask("GET", "/board/api/session/")
    const { pathname } = new URL(link)
    const { cookie = "" } = await ask("POST", pathname)
    own = { ...own, cookie: cookie.split(";", 1)[0] ?? "" }
    const { answer } = await ask("GET", "/board/api/session/")
    own = { ...own, "x-csrf-token": csrfIn(answer) }
    const read = async (path: string): Promise<unknown> =>
      (await fetch(`${origin}${path}`, { headers: own })).json()
    for (
      let tries = 0;
      isBehind(await read(`${migration}history/`), await read(migration));
      tries++
    ) {
      if (tries === 100) throw new Error("The history of the board is not added up")
      await setTimeout(100)
    }
    for (const path of reads) await ask("GET", path)
    for (const [path, body] of writes) await ask("POST", `${migration}${path}`, body)
    await ask("POST", "/board/api/sign-out/", {})
    await ask("GET", "/board/api/session/")
  })
