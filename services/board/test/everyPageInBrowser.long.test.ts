/**
 * What holds for every page of the board, in a real Chromium: both widths and themes, both roles,
 * links behind numbers, and no shift while it loads.
 */
import { excessWidth, looks } from "@data-import/server/testing/Browser"
import type { Page } from "playwright-core"
import { extractText, getDocumentProxy } from "unpdf"
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

/** That of an unscaled headline, 20 pixels of CSS, in points. Chromium scales down what is too wide. */
const headlineSize = 15

/** The text of a real print, and the size of its headline in points. What is cut off is not in it. */
const printed = async (page: Page) => {
  const bytes = await page.pdf({ preferCSSPageSize: true })
  const document = await getDocumentProxy(new Uint8Array(bytes))
  const { text } = await extractText(document, { mergePages: true })
  const { items } = await (await document.getPage(1)).getTextContent()
  const sizes = items.map((item) => ("height" in item ? item.height : 0))
  return { headline: Math.round(Math.max(...sizes) * 10) / 10, text }
}

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
    // A chart follows the width of its page, in one of the next frames.
    await expect.poll(() => excessWidth(page)).toBeLessThanOrEqual(0)
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0)
    await page.getByText(/Printed on \d+ \w+ \d{4}/).waitFor()
    await close(page)
  })

  it.each([
    ["/board/programme/", "staged 1,847,325"],
    [supplier, "staged 34,131"]
  ])("%s is printed from a wide window with all of its chart", async (path, atItsEnd) => {
    const { page } = await open(path)
    const chart = page.locator(".chart svg")
    await chart.waitFor()
    const wide = await chart.getAttribute("width")
    const { headline: size, text } = await printed(page)
    expect(text).toContain(atItsEnd)
    expect(size).toBe(headlineSize)
    await expect.poll(() => chart.getAttribute("width")).toBe(wide)
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
