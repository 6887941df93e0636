/**
 * The board's pages with fixed answers, tested in a real Chromium: each in one width and theme, and
 * each state that a page can be in. The long tests look at all of them in both and as a viewer. The
 * end-to-end test on the real system is tools/local/test/board.test.ts.
 */
import { gzipSync } from "node:zlib"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { hasBrowser, inaccessible, looks, wide } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { close, expectSound, headline, inChromium, paths, supplier } from "./boardInBrowser.ts"

if (!hasBrowser) {
  console.log("The pages of the board are not looked at: there is no Chromium.")
}

/** That of issue and documentation; the pages need far less. */
const mostBytes = 250 * 1024

inChromium("the board in Chromium", (board) => {
  const { server, visit: open } = board

  it("stays below 250 KiB compressed", () => {
    const dist = board.folder()
    const files = globSync("**/*.{js,css,html,svg}", { cwd: dist })
    const bytes = files.reduce(
      (sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length,
      0
    )
    expect(files.length).toBeGreaterThan(2)
    expect(bytes).toBeLessThan(mostBytes)
  })

  it.each(paths.map((path, index) => [path, looks[index % looks.length] ?? wide] as const))(
    "%s is accessible and fits",
    async (path, look) => {
      await expectSound(await open(path, look))
    }
  )

  it("says how many migrations need attention, and lists the worst first", async () => {
    const { page } = await open("/board/")
    expect(await headline(page)).toBe("9 of 40 migrations need attention")
    const states = await page.locator("tbody .condition").allInnerTexts()
    expect(states).toHaveLength(40)
    expect(states.slice(0, 7)).toEqual([
      "Stuck",
      "Stuck",
      "Failing",
      "Failing",
      "Failing",
      "Failing",
      "Slow"
    ])
    const filters = page.getByRole("navigation", { name: "By state" })
    const [all = 0, ...parts] = (await filters.locator("b").allInnerTexts()).map(Number)
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(all)
    await close(page)
  })

  it("shows 40 migrations on one screen, each with its full reason", async () => {
    const { page } = await open("/board/")
    await headline(page)
    await page.setViewportSize({ width: 1400, height: 1080 })
    const bottom = await page
      .locator("tbody tr")
      .last()
      .evaluate((row) => row.getBoundingClientRect().bottom)
    expect(bottom).toBeLessThanOrEqual(1080)
    const cut = await page
      .locator("tbody .why")
      .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length)
    expect(cut).toBe(0)
    await close(page)
  })

  it("sorts by a column, and at a second click by urgency again", async () => {
    const { page } = await open("/board/")
    await headline(page)
    const first = page.locator("tbody th a").first()
    await page.getByRole("link", { name: "Supplier", exact: true }).click()
    await expect.poll(() => first.innerText()).toBe("ACME_GAS")
    await page
      .getByRole("columnheader", { name: "Supplier" })
      .and(page.locator("[aria-sort]"))
      .waitFor()
    await page.getByRole("link", { name: "Supplier", exact: true }).click()
    await expect.poll(() => first.innerText()).toBe("ACME_LEGACY")
    await close(page)
  })

  it("links a forecast to the progress section of its migration", async () => {
    const { page } = await open("/board/")
    await headline(page)
    await page.locator("td.forecast a").first().click()
    await page.locator("#progress-title:focus").waitFor()
    expect(await page.locator("#progress-title").isVisible()).toBe(true)
    await close(page)
  })

  it("finds a migration by keyboard, and goes back", async () => {
    const { page } = await open("/board/")
    await headline(page)
    await page.keyboard.press("/")
    await page.keyboard.type("delta_l")
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1)
    await page.getByRole("link", { name: "DELTA_LEGACY" }).focus()
    await page.keyboard.press("Enter")
    await page.waitForURL(/DELTA_LEGACY/)
    await page
      .getByRole("heading", { level: 1, name: /DELTA_LEGACY: .* imported, 412 failed/ })
      .waitFor()
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1")
    await page.goBack()
    await page.getByRole("heading", { name: "9 of 40 migrations need attention" }).waitFor()
    await close(page)
  })

  it("pages through 1,000,000 accounts, 100 at a time", async () => {
    server().fixture = { ...standard, imports: 1_000_000 }
    const { page } = await open(`${supplier}imports/`)
    expect(await headline(page)).toBe("1,000,000 accounts")
    expect(await page.locator("tbody tr").count()).toBe(100)
    await page.getByRole("button", { name: "Next" }).click()
    await page.getByRole("link", { name: "NL-0000101" }).waitFor()
    await page.getByRole("button", { name: "Back" }).click()
    await page.getByRole("link", { name: "NL-0000001" }).waitFor()
    await close(page)
  })

  it("says what to do first without any migration", async () => {
    server().fixture = { ...standard, isEmpty: true }
    const { page } = await open("/board/")
    expect(await headline(page)).toBe("There is no migration yet")
    await page.getByText("operator supplier create").waitFor()
    expect(await inaccessible(page)).toEqual([])
    await close(page)
  })

  it("shows the rest of a page if a section fails", async () => {
    server().fixture = { ...standard, refused: [[/history/, 500]] }
    const { page } = await open(supplier)
    await page.getByText("Refused with 500.").first().waitFor()
    await page.getByRole("heading", { name: "Money" }).waitFor()
    server().fixture = standard
    await page.getByRole("button", { name: "Try again" }).first().click()
    await page.locator(".chart svg").waitFor()
    await close(page)
  })

  it("says what the money was compared with, and what to compare it with", async () => {
    const { page } = await open(supplier)
    const section = page.getByRole("region", { name: "Money" })
    await section.getByText("What is stored adds up").waitFor()
    await section.getByText("Nothing was compared with the supplier's own books").waitFor()
    await section.getByText("without a currency").waitFor()
    const total = section.getByRole("link", { name: "−1,204,518.36" }).last()
    expect(await total.getAttribute("href")).toMatch(/imports\/\?money=balance$/)
    for (const [name, file] of [
      [/^totals as CSV$/, /summary\.csv$/],
      [/^all [\d,]+ imported accounts with their balances, as CSV$/, /balances\.csv$/]
    ] as const) {
      const link = section.getByRole("link", { name })
      expect(await link.getAttribute("href")).toMatch(file)
    }
    await close(page)
  })

  it.each([
    [403, "Ask whoever gives access to the board"],
    [404, "There is nothing here for you"],
    [401, "You are not signed in"]
  ])("says whom to ask after %i", async (status, said) => {
    server().fixture = { ...standard, refused: [[status === 401 ? /./ : /DELTA/, status]] }
    const { page } = await open(supplier)
    await page.getByText(said).first().waitFor()
    expect(await inaccessible(page)).toEqual([])
    await close(page)
  })

  it("says while offline that it is old, and catches up once online", async () => {
    const { page } = await open("/board/")
    await headline(page)
    await page.context().setOffline(true)
    await page.getByText(/^As of \d\d:\d\d, connection lost\./).waitFor()
    expect(await page.locator("tbody tr").count()).toBe(40)
    expect(await inaccessible(page)).toEqual([])
    server().fixture = { ...standard, isEmpty: true }
    await page.context().setOffline(false)
    await page.getByRole("heading", { name: "There is no migration yet" }).waitFor()
    await page.getByText("connection lost").waitFor({ state: "detached" })
    await close(page)
  })

  it("shows a change when the stream reports it", async () => {
    const { page } = await open("/board/")
    await headline(page)
    server().fixture = { ...standard, isEmpty: true }
    await expect
      .poll(
        async () => {
          server().change("DELTA_LEGACY")
          return page.locator("h1").innerText()
        },
        { timeout: 20_000, interval: 500 }
      )
      .toBe("There is no migration yet")
    await close(page)
  })
})
