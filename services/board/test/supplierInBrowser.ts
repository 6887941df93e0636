/**
 * Every page that a user of the supplier may see, in a real Chromium: neither actions nor links to
 * what is refused, and no request for it. `everyPageInBrowser.long.test.ts` runs this.
 */
import { looks } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { type Board, expectSound, headline, paths } from "./boardInBrowser.ts"

const closed = /go-no-go|audit|alerts/

export const supplierTests = ({ server, visit }: Board): void => {
  const seen = paths.filter((path) => !closed.test(path))
  it.each(seen.flatMap((path) => looks.map((look) => [path, look.size, look] as const)))(
    "%s shows a supplier its own migration, without actions: %s",
    async (path, _size, look) => {
      server().fixture = { ...standard, role: "supplier" }
      const opened = await visit(path, look)
      const { page } = opened
      const refused: Array<string> = []
      page.on("response", (response) => response.status() === 403 && refused.push(response.url()))
      await page.reload()
      await headline(page)
      await page.waitForLoadState("networkidle").catch(() => undefined)
      const text = await page.locator("body").innerText()
      expect(text).not.toMatch(/board:|Ann Lee|Comments|Audit|ask a manager/)
      expect(await page.locator("a[href*='/audit'], a[href*='/go-no-go/']").count()).toBe(0)
      const buttons = await page.locator("button").allInnerTexts()
      expect(buttons.filter((name) => name.endsWith("…"))).toEqual([])
      expect(refused).toEqual([])
      await expectSound(opened)
    }
  )

  it("links a supplier to its correction files", async () => {
    server().fixture = { ...standard, role: "supplier" }
    const { page } = await visit(paths[1] ?? "")
    const name = /What you have to correct: sheet, CSV/
    await page.locator(".summary").getByText(name).waitFor()
    await page.context().close()
  })
}
