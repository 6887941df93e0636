/**
 * The board with fixed answers in a real Chromium: its pages, each state that they can be in, and
 * its actions. The long tests look at all pages in both widths and themes and as a viewer, and try
 * every action. The end-to-end test on the real system is tools/local/test/board.test.ts.
 */
import { gzipSync } from "node:zlib"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { hasBrowser, inaccessible, looks, wide } from "@data-import/server/testing/Browser"
import type { Page, Route } from "playwright-core"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { actions, does } from "./boardActions.ts"
import { close, expectSound, headline, inChromium, supplier } from "./boardInBrowser.ts"
import { personalTests } from "./repliesInBrowser.ts"

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

  const shown = ["/board/", supplier, `${supplier}imports/?state=FAILED`]
  it.each(shown.map((path, index) => [path, looks[index % looks.length] ?? wide] as const))(
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

  it("keeps eight tabs up to date by one stream, whichever tab is closed", async () => {
    const { page: first } = await open(supplier)
    const tabs = [first]
    while (tabs.length < 8) {
      const tab = await first.context().newPage()
      await tab.goto(server().origin + supplier)
      await headline(tab)
      tabs.push(tab)
    }
    expect(server().listening()).toBe(1)
    await first.close()
    await expect.poll(() => server().listening()).toBe(1)
    const again = tabs.slice(1).map((tab) => tab.waitForResponse(/migrations\/DELTA_LEGACY\/$/))
    server().change("DELTA_LEGACY")
    await Promise.all(again)
    await close(tabs[1] as Page)
  })

  it("fetches by itself once the tab with the stream is silent", async () => {
    const { page: first } = await open(supplier)
    await headline(first)
    const tab = await first.context().newPage()
    await tab.clock.install()
    await tab.goto(server().origin + supplier)
    await headline(tab)
    await first.evaluate("BroadcastChannel.prototype.postMessage = () => {}")
    const again = tab.waitForResponse(/migrations\/DELTA_LEGACY\/$/)
    await tab.clock.runFor("01:30")
    await again
    await tab.getByText(/every 30 seconds/).waitFor()
    await close(tab)
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

  it("is not taken for online by an answer that was on its way", async () => {
    const { page } = await open("/board/")
    await headline(page)
    const { promise: isOffline, resolve: release } = Promise.withResolvers<void>()
    const asked = page.waitForRequest(/api\/migrations\/$/)
    const hold = async (route: Route) => {
      const response = await route.fetch()
      await isOffline
      await route.fulfill({ response })
    }
    await page.route(/api\/migrations\/$/, hold, { times: 1 })
    await expect.poll(() => server().listening()).toBe(1)
    server().fixture = { ...standard, isEmpty: true }
    server().change("DELTA_LEGACY")
    await asked
    await page.context().setOffline(true)
    await page.getByText("connection lost").waitFor()
    release()
    await page.getByRole("heading", { name: "There is no migration yet" }).waitFor()
    await page.getByText("connection lost").waitFor()
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

  it("sends an action once, and says why it was refused", () => does(board, actions[0]))

  it("shows and prints the forecast of a rehearsal, which no list calls an import", async () => {
    const { page } = await open(supplier)
    const batches = page.locator("#batches")
    const row = batches.getByRole("row").filter({ hasText: "Rehearsal" })
    expect(await row.innerText()).not.toMatch(/IMPORT|PROCESS/)
    await row.getByRole("link", { name: /^Rehearsal/ }).click()
    await page.emulateMedia({ media: "print" })
    const forecast = page.locator("#forecast")
    await forecast.getByText("The real run would create 1,900 of 2,000 accounts").waitFor()
    await forecast.getByText("between 3 and 9 minutes, 4 of 5 times; learnt from 2").waitFor()
    await forecast.getByRole("row", { name: "Accounts, balance 1,900 −48,210.55" }).waitFor()
    await close(page)
  })

  it("signs off only after the exact name is typed and the open items are accepted", async () => {
    const page = (await open(supplier)).page
    await page.getByRole("button", { name: "Sign off…" }).click()
    const dialog = page.getByRole("dialog")
    const sign = dialog.getByRole("button", { name: "Sign DELTA_LEGACY off" })
    await dialog.getByText("Failed accounts: 412").waitFor()
    await dialog.getByText("Lines of batches that failed: 96").waitFor()
    await dialog.getByText("✓ The money adds up.").waitFor()
    await dialog.getByLabel(/Type DELTA_LEGACY/).fill("DELTA_LEGACY")
    expect(await sign.isDisabled()).toBe(true)
    await dialog.getByLabel("Sign off although this is open").check()
    expect(await sign.isDisabled()).toBe(true)
    await dialog.getByLabel(/^Reason/).fill("No more data comes")
    expect(await sign.isEnabled()).toBe(true)
    await dialog.getByLabel(/Type DELTA_LEGACY/).fill("delta_legacy")
    expect(await sign.isDisabled()).toBe(true)
    await close(page)
  })

  personalTests(board)
})
