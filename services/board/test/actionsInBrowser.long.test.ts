/**
 * The actions of managers, in a real Chromium: each dialog says what will happen to how many, why
 * it was refused, and what the outcome was; it sends exactly what it says, once.
 */
import { readFile } from "node:fs/promises"
import { inaccessible } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { type Board, close, inChromium, supplier } from "./boardInBrowser.ts"
import { batch } from "./boardActions.ts"
import { replyTests } from "./repliesInBrowser.ts"

const downloads = ({ open }: Board) => {
  it("downloads the data of a chart as CSV", async () => {
    const page = await open(supplier)
    await page.getByText("Data as a table").first().click()
    const downloading = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download as CSV" }).first().click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe("DELTA_LEGACY-progress.csv")
    const numbers = await page
      .locator("details.data tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll(".number")].map((it) => it.textContent))
      )
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n").slice(1)
    expect(lines.length).toBeGreaterThan(100)
    // Only staged and imported: the plan and the time of the last row change meanwhile.
    expect(
      lines.map((line) =>
        line
          .replace(/^".*",/, "")
          .split(",")
          .slice(0, 2)
      )
    ).toEqual(numbers.map((row) => row.slice(0, 2).map((cell) => cell?.replaceAll(",", ""))))
    await close(page)
  })
}

/** Lists that are filtered by their form. */
const filters = ({ open }: Board) => {
  it("filters the audit log by user, action and day", async () => {
    const page = await open("/board/audit/")
    await page.getByLabel("Who").fill("board:Maria Keller")
    await page.getByLabel("Action").selectOption("sign_off")
    await page.getByLabel("From").fill("2026-11-01")
    await page.getByLabel("People only").check()
    await page.getByRole("button", { name: "Show", exact: true }).click()
    await page.waitForURL(/who=board%3AMaria\+Keller&people=true&action=sign_off&from=2026-11-01/)
    await page.getByRole("link", { name: "Clear" }).click()
    await page.waitForURL(/audit\/$/)
    await close(page)
  })

  it("acts on ticked accounts of several pages, or on all that match the filter", async () => {
    const page = await open(`${supplier}imports/?corrected=true&search=NL`)
    await page.getByRole("heading", { name: /corrected since they failed, that begin/ }).waitFor()
    await page
      .getByRole("button", { name: /^Import all corrected accounts with numbers/ })
      .waitFor()
    await page.getByLabel("All on this page").check()
    await page.getByRole("button", { name: "Next" }).click()
    await page.getByLabel("Choose NL-0000101").check()
    await page.getByRole("button", { name: "Move 101… chosen accounts" }).waitFor()
    await page.getByRole("button", { name: "Import 101 chosen accounts…" }).click()
    const dialog = page.getByRole("dialog", { name: "Import 101 chosen accounts" })
    await dialog.getByRole("button", { name: "Import 101 accounts" }).waitFor()
    expect(await inaccessible(page)).toEqual([])
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Untick 101" }).click()
    expect(await page.locator("tbody input:checked").count()).toBe(0)
    await close(page)
  })

  it("retries ticked accounts, and then acts on all of the list again", async () => {
    const page = await open(`${supplier}imports/?state=FAILED`)
    await page.getByLabel("Choose NL-0000002").check()
    await page.getByRole("button", { name: "Retry account NL-0000002…" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Retry 1 account" }).click()
    await dialog.getByText("has started").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.getByRole("button", { name: "Retry 412 failed…" }).waitFor()
    expect(await page.getByRole("button", { name: /^Untick/ }).count()).toBe(0)
    await close(page)
  })

  it("filters accounts by state and missing cohort", async () => {
    const page = await open(`${supplier}imports/`)
    await page.getByLabel("State").selectOption("PENDING")
    await page.getByLabel("Without a cohort").check()
    await page.getByRole("button", { name: "Show", exact: true }).click()
    await page.waitForURL(/state=PENDING&without_cohort=true/)
    await page.getByRole("heading", { name: /in the state Pending, without a cohort/ }).waitFor()
    await close(page)
  })
}

const links = ({ open }: Board) => {
  it("closes a dialog when its link is followed, and shows the batches", async () => {
    const page = await open(supplier)
    await page.getByRole("button", { name: "Retry 412 failed…" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Retry 412 accounts" }).click()
    await dialog.getByRole("link", { name: "Batches" }).click()
    await dialog.waitFor({ state: "detached" })
    await page.waitForURL(/#batches$/)
    await page.locator("#batches-title:focus").waitFor()
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0)
    await close(page)
  })
}

const rules = ({ open, server }: Board) => {
  it("shows an accessible dialog that says what will happen to how many, and does it", async () => {
    const page = await open(supplier)
    await page.getByRole("button", { name: /Retry 233 failed accounts with invalid_phone/ }).click()
    const dialog = page.getByRole("dialog", { name: /Retry 233 failed accounts/ })
    await dialog
      .getByText(/3 of them failed .* \(max_value\)\. The day is now 2026-11-30/)
      .waitFor()
    expect(await inaccessible(page)).toEqual([])
    await dialog.getByRole("combobox", { name: "Operations team" }).selectOption("Night Team")
    await dialog.getByRole("button", { name: "Retry 233 accounts" }).click()
    await dialog.getByText("A batch of 412 accounts has started").waitFor()
    expect(server().posted).toEqual([
      {
        path: "migrations/DELTA_LEGACY/process/",
        body: {
          ...batch,
          selection: { state: "FAILED", code: "invalid_phone_number" },
          operations_team_name: "Night Team"
        }
      }
    ])
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await close(page)
  })

  it("says what would allow an action that was refused", async () => {
    server().fixture = { ...standard, refused: [[/status\/$/, 403]] }
    const page = await open(supplier)
    await page.getByRole("button", { name: "Pause…" }).first().click()
    await page.getByLabel("Reason").fill("Late data")
    await page.getByRole("button", { name: "Pause DELTA_LEGACY" }).click()
    await page.getByText("Not done. Refused with 403. Ask whoever gives access").waitFor()
    await close(page)
  })
}

const inputs = ({ open, server }: Board) => {
  it("names the invalid line of a plan, and saves a valid plan", async () => {
    const page = await open(supplier)
    await page.getByRole("button", { name: /plan…/ }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox", { name: "Plan" }).fill("2026-12-01 100\nlater 5")
    await dialog.getByText("Line 2: write a date and a number").waitFor()
    expect(await dialog.getByRole("button", { name: "Save the plan" }).isDisabled()).toBe(true)
    await dialog.getByRole("textbox", { name: "Plan" }).fill("2026-12-01 100")
    await dialog.getByRole("button", { name: "Save the plan" }).click()
    await dialog.getByText("The plan has").waitFor()
    expect(server().posted[0]?.body).toEqual({ points: [{ on: "2026-12-01", accounts: 100 }] })
    await close(page)
  })
}

inChromium("actions of the board in Chromium", (board) => {
  rules(board)
  inputs(board)
  downloads(board)
  filters(board)
  links(board)
  replyTests(board)
})
