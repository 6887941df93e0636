/**
 * Every number on a page links to the list of what it counts, except numbers without such a list.
 * `everyPageInBrowser.long.test.ts` runs this on each page.
 */
/// <reference lib="dom" />
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { pageAt } from "../web/src/routing/Paths.ts"

/** Elements with numbers that are no links, and why. */
const exceptions: Readonly<Record<string, string>> = {
  h1: "The answer of the page in a sentence: its numbers stand again below it, as links.",
  time: "An instant.",
  ".interval": "Instants of a forecast.",
  ".code, code": "A name: of an account, a code, a path or a request.",
  ".field-name": "Which element of a list a field is in.",
  ".error-text": "The text of one error: bounds, examples and days.",
  ".stored dd": "What is stored of one account.",
  "th[scope=col]": "The name of a column.",
  ".share": "How much the number beside it is of a whole.",
  ".speed": "Lines in a second.",
  ".size": "Of one document.",
  ".place": "The place of a line among the others.",
  ".past": "What was open, sent or certified on a past day, of which there are only counts.",
  ".said": "What somebody wrote.",
  "details.data":
    "What a chart shows: past hours, of which there are only counts, or the table above.",
  "#forecast td, #forecast dd": "What would be created or take: it does not exist yet.",
  "#outcome td, #outcome dd":
    "How long it took, and sums: the accounts behind them are the links of the table above.",
  summary: "Opens the list that it counts.",
  "button, option": "An action, which says how many it is for; what they are is a list beside it.",
  ".section-head > p": "Counts the rows of the table below it, or names the day of a plan."
}

interface Found {
  readonly unlinked: ReadonlyArray<string>
  readonly used: ReadonlyArray<string>
  readonly links: ReadonlyArray<string>
}

/** Finds each text with a digit. A zero needs no link, because nothing is behind it. */
const numbersOf = (page: Page): Promise<Found> =>
  page.evaluate((selectors) => {
    const unlinked: Array<string> = []
    const used = new Set<string>()
    const links = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = (node.textContent ?? "").trim()
      const parent = node.parentElement
      if (!/\d/.test(text) || text === "0" || parent === null) continue
      if (parent.closest("svg, .hidden, .card-name") !== null) continue
      const link = parent.closest("a")
      if (link !== null) {
        links.add(link.getAttribute("href") ?? "")
        continue
      }
      const reason = selectors.find((selector) => parent.closest(selector) !== null)
      if (reason === undefined) unlinked.push(`${text} in ${parent.outerHTML.slice(0, 120)}`)
      else used.add(reason)
    }
    return { unlinked, used: [...used], links: [...links] }
  }, Object.keys(exceptions))

/** Opens all `details`, because their content is rendered only then. */
const openDetails = async (page: Page) => {
  await page.evaluate(() => {
    for (const summary of document.querySelectorAll("summary")) summary.click()
  })
  const charts = await page.locator("details.data").count()
  await expect.poll(() => page.locator("details.data table").count()).toBe(charts)
}

const isPage = (href: string, at: string): boolean => {
  const url = new URL(href, at)
  return pageAt(url.pathname).name !== "unknown" || url.pathname.startsWith("/board/api/")
}

export const numberTests = (
  paths: ReadonlyArray<string>,
  open: (path: string) => Promise<Page>
): void => {
  const used = new Set<string>()

  it.each(paths)("%s links every number to what it counts", async (path) => {
    const page = await open(path)
    await page.locator("h1").filter({ hasText: /\d/ }).waitFor()
    await page.waitForLoadState("networkidle").catch(() => undefined)
    await openDetails(page)
    const found = await numbersOf(page)
    for (const selector of found.used) used.add(selector)
    expect(found.unlinked).toEqual([])
    expect(found.links.filter((href) => !isPage(href, page.url()))).toEqual([])
    await page.context().close()
  })

  it("needs every exception on some page", () => {
    expect(Object.keys(exceptions).filter((selector) => !used.has(selector))).toEqual([])
  })
}
