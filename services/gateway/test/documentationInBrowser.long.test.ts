/**
 * The pages below `/docs` in a real Chromium: wide and narrow, light and dark. The tests are
 * skipped if there is none; `CHROMIUM` names one that is not in a usual place.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { Browser } from "playwright-core"
import * as Browsing from "@data-import/server/testing/Browser"
import {
  excessWidth,
  inaccessible,
  type Look,
  looks,
  patience
} from "@data-import/server/testing/Browser"
import { gateway } from "./gatewayService.ts"

if (!Browsing.hasBrowser) {
  console.log("The pages of /docs are not looked at: there is no Chromium.")
}

const both = looks.slice(0, 2)

let browser: Browser
let origin = ""
const scope = Scope.makeUnsafe()

const open = async (path: string, look: Look, javaScriptEnabled = true) => {
  const opened = await Browsing.blank(browser, origin, { ...look, javaScriptEnabled })
  await opened.page.goto(origin + path)
  return opened
}

const expectFine = async (path: string, look: Look) => {
  const { faults, page } = await open(path, look)
  const at = `${path}, ${look.size} and ${look.colorScheme}`
  expect(faults, at).toEqual([])
  expect(await excessWidth(page), at).toBeLessThanOrEqual(0)
  expect(await inaccessible(page), at).toEqual([])
  await page.context().close()
}

/**
 * Faults of Scalar by the rules of axe: buttons of the sidebar say whether they are selected, the
 * search has no name and the role of a landmark, cards have no names, models are buttons in
 * buttons, the list of languages has more than tabs, and lists of operations scroll but are not
 * reachable by keyboard.
 */
const faultsOfScalar: ReadonlyArray<string> = [
  "aria-allowed-attr",
  "aria-allowed-role",
  "aria-required-children",
  "button-name",
  "landmark-unique",
  "nested-interactive",
  "scrollable-region-focusable"
]

const slow = { timeout: 600_000 }

const reference = "/docs/reference"

const openReference = async (look: Look, anchor = "") => {
  const opened = await open(reference + anchor, look)
  await opened.page.getByRole("heading", { name: "Create a batch" }).first().waitFor()
  return opened
}

const suite = Browsing.hasBrowser ? describe : describe.skip

suite("in Chromium", () => {
  beforeAll(async () => {
    const port = await Effect.runPromise(Scope.provide(gateway("http://127.0.0.1:1"), scope))
    origin = `http://127.0.0.1:${port}`
    browser = await Browsing.launch()
  }, patience)

  afterAll(async () => {
    await browser.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("every page has no faults, wide and narrow, light and dark", slow, async () => {
    const { page } = await open("/docs", both[0] as Look)
    const paths: ReadonlyArray<string> = await page
      .locator("nav.pages a")
      .evaluateAll((links) => links.map((link) => String(link.getAttribute("href"))))
    await page.context().close()
    expect(paths.length).toBeGreaterThan(15)
    const varied = new Set(["/docs", "/docs/quickstart"])
    for (const [index, path] of paths.entries()) {
      const looked = varied.has(path) ? looks : looks.slice(index % 2, (index % 2) + 1)
      for (const look of looked) await expectFine(path, look)
    }
  })

  it(
    "the search shows the sections with all words, titles first, and keeps them in the address",
    slow,
    async () => {
      for (const look of both) await expectFine("/docs/search", look)
      const { faults, page } = await open("/docs/search?q=customer", both[0] as Look)
      const titles = page.locator("#sections a")
      const many = await titles.count()
      await page.getByLabel("Words").fill("Forgotten customer")
      expect(await titles.first().textContent()).toMatch(/asks to be forgotten/)
      expect(await titles.count()).toBeLessThan(many)
      expect(page.url()).toMatch(/\?q=Forgotten%20customer$/)
      await titles.first().click()
      expect(page.url()).toMatch(/\/docs\/afterwards#a-customer/)
      expect(faults).toEqual([])
      await page.context().close()
      const without = await open("/docs/search", both[0] as Look, false)
      expect(await without.page.locator("#sections li").count()).toBeGreaterThan(many)
      await without.page.context().close()
    }
  )

  it("the page for unknown paths is accessible", slow, async () => {
    const { faults, page } = await open("/docs/nothing", both[1] as Look)
    expect(faults).toEqual([expect.stringContaining("404")])
    expect(await inaccessible(page)).toEqual([])
    await page.context().close()
  })

  it("samples are in the language that was chosen, without scripts too", slow, async () => {
    for (const withScripts of [true, false]) {
      const { page } = await open("/docs/quickstart", both[0] as Look, withScripts)
      const shown = (language: string) => page.locator(`.sample.${language}`).first().isVisible()
      expect([await shown("sh"), await shown("python")]).toEqual([true, false])
      await page.getByText("Python", { exact: true }).first().click()
      expect([await shown("sh"), await shown("python")]).toEqual([false, true])
      await page.context().close()
    }
  })

  it("the anchor of a code scrolls it below the bars", slow, async () => {
    const { page } = await open("/docs/errors#invalid_phone_number", both[0] as Look)
    const box = await page.locator("#invalid_phone_number").boundingBox()
    const bar = await page.locator(".languages").boundingBox()
    expect(box?.y).toBeGreaterThan((bar?.y ?? 0) + (bar?.height ?? 0))
    expect(box?.y).toBeLessThan(300)
    await page.context().close()
  })

  it.each(both)("the reference has no faults: $size and $colorScheme", slow, async (look) => {
    const { faults, page } = await openReference(look)
    expect(faults).toEqual([])
    expect(await excessWidth(page)).toBeLessThanOrEqual(0)
    expect(await inaccessible(page, faultsOfScalar)).toEqual([])
    await page.context().close()
  })

  it("the reference finds, links to an operation, and shows its samples", slow, async () => {
    const { page } = await openReference(both[0] as Look)
    await page.keyboard.press("Control+k")
    await page.locator("input:focus").waitFor()
    await page.keyboard.type("Pause a batch")
    await page
      .getByRole("option", { name: /Pause a batch/ })
      .first()
      .click()
    await page.waitForURL(/#.*\/pause/)
    const linked = await openReference(both[0] as Look, new URL(page.url()).hash)
    const heading = linked.page.getByRole("heading", { name: "Pause a batch" }).first()
    await heading.waitFor()
    const top = async () => (await heading.boundingBox())?.y ?? 9_999
    await expect.poll(top, { timeout: patience }).toBeLessThan(500)
    const picker = linked.page.getByRole("button", { name: /curl/i }).first()
    await picker.click()
    const choices = await linked.page.getByRole("option").allInnerTexts()
    expect(choices.map((text) => text.trim())).toEqual(expect.arrayContaining(["Curl", "Fetch"]))
    expect(linked.faults).toEqual([])
    await page.context().close()
    await linked.page.context().close()
  })
})
