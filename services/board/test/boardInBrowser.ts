/** The board's pages with fixed answers in a real Chromium, for the suites that look at them. */
import { rmSync } from "node:fs"
import * as Browsing from "@data-import/server/testing/Browser"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest"
import { build } from "../testing/build.ts"
import { earlier, later } from "../testing/sampleCertificates.ts"
import { type FixtureServer, serve, standard } from "../testing/FixtureServer.ts"
import { rehearsalId } from "../testing/sampleWave.ts"

export const supplier = "/board/migrations/DELTA_LEGACY/"
export const pausedBatch = "00000000-0000-4000-8000-000000000002"

const revertBatch = "00000000-0000-4000-8000-000000000004"

/** A viewer sees less of these. */
export const certificatePaths = [
  `${supplier}certificates/`,
  `${supplier}certificates/${later}/?with=${earlier}`
]

export const paths = [
  "/board/",
  supplier,
  `${supplier}problems/`,
  `${supplier}imports/?state=FAILED`,
  `${supplier}imports/NL-0004712/`,
  `${supplier}batches/${pausedBatch}/`,
  `${supplier}batches/${revertBatch}/`,
  `${supplier}batches/${rehearsalId}/`,
  `${supplier}go-no-go/?cohort=wave-1`,
  `${supplier}waves/`,
  `${supplier}batches/${pausedBatch}/lines/?outcome=FAILED`,
  `${supplier}forecasts/`,
  ...certificatePaths,
  "/board/programme/",
  "/board/audit/",
  "/board/alerts/"
]

export interface Board {
  readonly open: (path: string) => Promise<Page>
  readonly visit: (path: string, look?: Browsing.Look) => Promise<Browsing.Opened>
  /** The folder of the built web part. */
  readonly folder: () => string
  /** The server of the fixed answers, which each test may change; the next begins anew. */
  readonly server: () => FixtureServer
}

export const close = (page: Page) => page.context().close()

const isAction = /\/board\/api\/.*/

/** Records what the page sends, answered or not. After `hold`, requests wait for the release. */
export const recorded = async (page: Page) => {
  const sent: Array<unknown> = []
  let gate = Promise.resolve()
  await page.route(isAction, async (route, request) => {
    if (request.method() !== "GET" && !request.url().endsWith("preview/")) {
      sent.push(request.postDataJSON())
      await gate
    }
    return route.continue()
  })
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { sent, hold }
}

/** The headline, once the page has its answer. */
export const headline = async (page: Page): Promise<string> => {
  await page.locator("h1").filter({ hasText: /\s/ }).waitFor()
  return page.locator("h1").innerText()
}

/** Expects an accessible page of the board that fits and causes no error; closes it. */
export const expectSound = async ({ faults, page }: Browsing.Opened): Promise<void> => {
  expect(await headline(page)).toMatch(/\d/)
  await page.waitForLoadState("networkidle").catch(() => undefined)
  expect(faults).toEqual([])
  expect(await Browsing.excessWidth(page)).toBeLessThanOrEqual(0)
  expect(await Browsing.inaccessible(page)).toEqual([])
  await close(page)
}

/** Declares a suite, which is skipped without a Chromium. */
export const inChromium = (name: string, tests: (board: Board) => void): void => {
  const suite = Browsing.hasBrowser ? describe : describe.skip
  let folder: string
  let server: FixtureServer
  let browser: Browser

  suite(name, () => {
    beforeAll(async () => {
      folder = build()
      server = await serve(folder)
      browser = await Browsing.launch()
    }, Browsing.patience)

    afterEach(() => {
      server.fixture = standard
      server.posted.length = 0
    })

    afterAll(async () => {
      await browser.close()
      await server.close()
      rmSync(folder, { recursive: true })
    })

    const visit: Board["visit"] = async (path, look = Browsing.wide) => {
      const opened = await Browsing.blank(browser, server.origin, look)
      await opened.page.goto(server.origin + path)
      return opened
    }
    tests({
      folder: () => folder,
      server: () => server,
      visit,
      open: async (path) => (await visit(path)).page
    })
  })
}
