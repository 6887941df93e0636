/**
 * Every page as a viewer sees it, in a real Chromium: all that a manager sees, without actions.
 * Tested only in the wide width and the light theme, which show every action;
 * `everyPageInBrowser.long.test.ts` covers the others, and runs this.
 */
import { inaccessible, type Opened } from "@data-import/server/testing/Browser"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { type Board, certificatePaths, paths } from "./boardInBrowser.ts"

/** Buttons that show other rows, or change what is the viewer's own: session and alerts. */
const harmless =
  /^(Sign out|Stay signed in…|Show|Back|Next|Newer|Older|Save|Send a test.*|Remove the webhook)$/

const textsOf = (page: Page, selector: string) => page.locator(selector).allInnerTexts()

/** What is on a page, and what can be pressed there. */
const seen = async ({ page }: Opened) => {
  await page.locator("h1").filter({ hasText: /\d/ }).waitFor()
  await page.waitForLoadState("networkidle")
  return {
    parts: await textsOf(page, "main h2"),
    heads: await textsOf(page, "main thead th:not(.act)"),
    rows: await page.locator("main tbody tr").count(),
    // The export of balances reads every account, and is for managers.
    links: await page
      .locator("main a:not([href*='balances.csv'], [href*='/corrections.'])")
      .count(),
    buttons: await textsOf(page, "button")
  }
}

const isHarmless = (name: string) => harmless.test(name)

const isAlike = (path: string) => !certificatePaths.includes(path)

export const viewerTests = ({ server, visit }: Board): void => {
  it.each(paths.filter(isAlike))(
    "%s shows a viewer the same as a manager, without actions",
    async (path) => {
      const manager = await visit(path)
      const { buttons: offered, ...all } = await seen(manager)
      await manager.page.context().close()
      server().fixture = { ...standard, role: "viewer" }
      const viewer = await visit(path)
      const { buttons, ...shown } = await seen(viewer)
      expect(shown).toEqual(all)
      expect(buttons).toEqual(offered.filter(isHarmless))
      expect(await inaccessible(viewer.page)).toEqual([])
      expect(viewer.faults).toEqual([])
      expect(server().posted).toEqual([])
      await viewer.page.context().close()
    }
  )

  it.each(certificatePaths)(
    "%s shows a viewer counts, and neither sums nor hashes",
    async (path) => {
      server().fixture = { ...standard, role: "viewer" }
      const { faults, page } = await visit(path)
      await page.getByText(/Sums[ ,a-z]* are for managers/).waitFor()
      await page.getByText("58,464").first().waitFor()
      const text = await page.locator("main").innerText()
      expect(text).not.toMatch(/1,204,5|5f3c 7a0e|Download/)
      expect(await textsOf(page, "main button")).toEqual([])
      expect(await inaccessible(page)).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()
    }
  )

  it("tells a viewer whom to ask for more, and keeps personal data masked", async () => {
    server().fixture = { ...standard, role: "viewer" }
    const [, migration = "", , , account = ""] = paths
    const { page } = await visit(migration)
    await page.getByText("You may look, not act").waitFor()
    await page.goto(`${server().origin}${account}`)
    await page.getByText("M… (5 characters)").waitFor()
    await page.context().close()
  })
}
