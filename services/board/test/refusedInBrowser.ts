/**
 * Actions that the service would refuse are not offered, in a real Chromium.
 * `everyActionInBrowser.long.test.ts` runs this.
 */
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { type Board, close, pausedBatch, supplier } from "./boardInBrowser.ts"

/** Pages that offer an import or a retry of accounts, and one of their buttons. */
export const offering = [
  [supplier, /^Retry 412 failed/],
  [supplier, /^Import all 11,868/],
  [`${supplier}imports/?state=FAILED`, /^Retry 412 failed/],
  [`${supplier}imports/?state=PENDING`, /^Import all 412/],
  [`${supplier}problems/`, /^Retry 233 failed accounts/]
] as const

/** An answer that is requested twice is fetched again after a pause. In milliseconds. */
const longerThanPause = 2_500

const startsImports = (page: Page) =>
  page.getByRole("button", { name: /^(Retry|Import|Rehearse) / })

/** On these of the pages that offer imports. */
export const refusedTests = (
  { open, server }: Board,
  pages: ReadonlyArray<(typeof offering)[number]>
): void => {
  it.each(pages)("%s offers %s on an ongoing migration", async (path, name) => {
    const page = await open(path)
    await page.getByRole("button", { name }).first().waitFor()
    await close(page)
  })

  it.each(["Paused", "Complete"] as const)(
    "no page offers imports or retries on a migration that is %s",
    async (status) => {
      server().fixture = { ...standard, status }
      for (const path of new Set(pages.map(([path]) => path))) {
        const page = await open(path)
        await page.locator("main table").first().waitFor()
        await page.waitForLoadState("networkidle")
        expect(await startsImports(page).allInnerTexts(), path).toEqual([])
        await close(page)
      }
    }
  )

  it("offers no moves, undo or plan on a migration that is signed off", async () => {
    const offered = (page: Page) => page.getByRole("button", { name: /^(Move|Undo)|plan…$/ })
    for (const status of ["Paused", "Complete"] as const) {
      server().fixture = { ...standard, status }
      const page = await open(supplier)
      await page.locator("#cohorts table").waitFor()
      await page.waitForLoadState("networkidle")
      expect((await offered(page).count()) > 0, status).toBe(status === "Paused")
      await close(page)
    }
  })

  it("does not offer to resume a batch of a paused migration", async () => {
    const path = `${supplier}batches/${pausedBatch}/`
    for (const status of ["Ongoing", "Paused"] as const) {
      server().fixture = { ...standard, status }
      const page = await open(path)
      await page.locator("main table").first().waitFor()
      await page.waitForLoadState("networkidle")
      const resume = page.getByRole("button", { name: /^Resume IMPORT/ })
      expect(await resume.count(), status).toBe(status === "Ongoing" ? 1 : 0)
      await close(page)
    }
  })

  it("fetches each answer only once to show a page", async () => {
    const page = await open("/board/")
    // Everything is fetched once more when the stream of changes opens.
    await page.waitForTimeout(longerThanPause)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.url().includes("/board/api/migrations/")) asked.push(request.url())
    })
    await page.getByRole("link", { name: "DELTA_LEGACY", exact: true }).click()
    await page.getByRole("button", { name: /^Retry 233 failed accounts/ }).waitFor()
    await page.waitForTimeout(longerThanPause)
    const twice = asked.filter((url, index) => asked.indexOf(url) < index)
    expect(twice).toEqual([])
    await close(page)
  })
}
