/**
 * What holds for every page of the board, in a real Chromium: both widths and themes, both roles,
 * links behind numbers, and no shift while it loads.
 */
import { excessWidth, looks } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import {
  close,
  expectSound,
  headline,
  inChromium,
  paths,
  pausedBatch,
  supplier
} from "./boardInBrowser.ts"
import { rehearsalId } from "../testing/sampleWave.ts"
import { numberTests } from "./linkedNumbers.ts"
import { supplierTests } from "./supplierInBrowser.ts"
import { viewerTests } from "./viewerInBrowser.ts"

/** Other states of some of these pages, with other numbers. */
const otherStates = [
  "/board/migrations/ACME_LEGACY/",
  "/board/migrations/EAST_GAS/",
  "/board/migrations/JURA_LEGACY/",
  "/board/migrations/JURA_WATER/",
  `${supplier}imports/?search=NL`,
  `${supplier}batches/00000000-0000-4000-8000-000000000001/`,
  `${supplier}batches/${pausedBatch}/lines/`,
  `${supplier}batches/${rehearsalId}/outcome/`
]

/** A4 without its margins, in pixels of CSS. */
const paper = { width: 703, height: 1009 }

inChromium("every page of the board in Chromium", (board) => {
  const { visit: open } = board

  it.each(paths.flatMap((path) => looks.map((look) => [path, look.size, look] as const)))(
    "%s is accessible and fits: %s",
    async (path, _size, look) => {
      await expectSound(await open(path, look))
    }
  )

  it.each(paths)("%s fits on paper, without what can be pressed", async (path) => {
    const { page } = await open(path)
    await headline(page)
    await page.waitForLoadState("networkidle").catch(() => undefined)
    await page.emulateMedia({ media: "print" })
    await page.setViewportSize(paper)
    expect(await excessWidth(page)).toBeLessThanOrEqual(0)
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0)
    await page.getByText(/Printed on \d+ \w+ \d{4}/).waitFor()
    await close(page)
  })

  it.each(paths)("%s causes no layout shift while it loads", async (path) => {
    const { page } = await open("/board/unknown/")
    await headline(page)
    await page.evaluate(`globalThis.shifts = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries().map((it) => it.value)))
        .observe({ type: "layout-shift" })`)
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)});
      dispatchEvent(new PopStateEvent("popstate"))`)
    await page.locator("h1").filter({ hasText: /\d/ }).waitFor()
    await page.waitForLoadState("networkidle").catch(() => undefined)
    const shift = await page.evaluate("shifts.reduce((sum, value) => sum + value, 0)")
    expect(shift).toBeLessThan(0.1)
    await close(page)
  })

  numberTests([...paths, ...otherStates], board.open)
  viewerTests(board)
  supplierTests(board)
})
