/** Tables, links and refusals on the pages of the board, in a real Chromium. */
import { inaccessible } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { close, headline, inChromium, supplier } from "./boardInBrowser.ts"

inChromium("more of the pages of the board in Chromium", (board) => {
  const { server, visit: open } = board

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

  it("says what the money was compared with, and what to compare it with", async () => {
    const { page } = await open(supplier)
    const section = page.getByRole("region", { name: "Money" })
    await section.getByText("What is stored adds up").waitFor()
    await section.getByText("compared with the control totals that were entered").waitFor()
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

  it("saves what the user wants to be told, and says what came of a test", async () => {
    const { page } = await open("/board/alerts/")
    expect(await headline(page)).toBe(
      "You are told of 3 of 5 kinds of alerts, by e-mail and by a webhook"
    )
    await page.getByRole("button", { name: "Send a test to the webhook" }).click()
    await page.getByText("Not sent. The server answered 404.").waitFor()
    const save = page.getByRole("button", { name: "Save" })
    expect(await save.isDisabled()).toBe(true)
    await page.getByLabel("Some").check()
    await page.getByText("Choose a migration, or all.").waitFor()
    await page.getByLabel("EAST_GAS").check()
    await page.getByLabel("A migration is stuck").uncheck()
    await page.getByLabel("Percent").fill("12")
    await page.getByRole("button", { name: "Remove the webhook" }).click()
    expect(await page.getByRole("button", { name: "Send a test e-mail" }).isDisabled()).toBe(true)
    await save.click()
    await page.getByText("Saved.", { exact: true }).waitFor()
    expect(server().posted).toEqual([
      { path: "alerts/test/", body: { way: "webhook" } },
      {
        path: "alerts/",
        body: {
          kinds: ["failing", "wave_finished"],
          failing_share: 12,
          import_suppliers: ["EAST_GAS"],
          email: "maria.keller@example.com",
          webhook: null
        }
      }
    ])
    await close(page)
  })
})
