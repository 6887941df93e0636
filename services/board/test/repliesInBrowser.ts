/**
 * How the board handles answers that are refused, lost or late, and requests without a dialog, in a
 * real Chromium. `actionsInBrowser.long.test.ts` runs these tests.
 */
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { type Board, close, recorded, supplier } from "./boardInBrowser.ts"

const refusals = ({ open, server }: Board) => {
  it("says what is wrong with each field of an action", async () => {
    server().fixture = { ...standard, refused: [[/plan\/$/, 400]] }
    const page = await open(supplier)
    await page.getByRole("button", { name: "Change the plan…" }).click()
    await page.getByRole("button", { name: "Save the plan" }).click()
    await page.getByText("Not done. The first is wrong. So is the second.").waitFor()
    await close(page)
  })

  it("says that the outcome of an action is unknown if its answer is lost", async () => {
    const page = await open(supplier)
    await page.route(/status\/$/, (route) => route.abort())
    await page.getByRole("button", { name: "Pause…" }).first().click()
    await page.getByLabel("Reason").fill("Late data")
    await page.getByRole("button", { name: "Pause DELTA_LEGACY" }).click()
    await page.getByText("it is not known whether it was done. Look at the audit log").waitFor()
    await close(page)
  })

  it("keeps what was entered when the session ends, for the next session", async () => {
    const page = await open(supplier)
    await page.getByRole("button", { name: "Undo…" }).first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel(/reason/i).fill("Wrong signs")
    server().fixture = { ...standard, refused: [[/./, 401]] }
    await page.evaluate("dispatchEvent(new Event('online'))")
    await dialog.getByText("Your session has ended.").waitFor()
    expect(await page.locator("#states").count()).toBe(0)
    server().fixture = standard
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.getByRole("heading", { name: "Cohorts" }).waitFor()
    expect(await dialog.getByText("Your session has ended.").count()).toBe(0)
    expect(await dialog.getByLabel(/reason/i).inputValue()).toBe("Wrong signs")
    await close(page)
  })

  it("says how many accounts have moved if the rest is refused", async () => {
    const page = await open(supplier)
    await page.getByRole("button", { name: "Move all…" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("To cohort").selectOption({ label: "No cohort" })
    await page.route(/cohort\/$/, async (route) => {
      await route.fulfill({ response: await route.fetch() })
      server().fixture = { ...standard, refused: [[/cohort\/$/, 503]] }
    })
    await dialog.getByRole("button", { name: /^Move / }).click()
    await dialog.getByText("Not done. Refused with 503.").waitFor()
    await dialog.getByText("400 have moved so far.").waitFor()
    await close(page)
  })
}

const documents = ({ open, server }: Board) => {
  it("makes a link to a document on request, and says when it expires", async () => {
    server().fixture = { ...standard, refused: [[/document-links/, 404]] }
    const page = await open(`${supplier}imports/NL-0004712/`)
    const link = page.getByRole("button", { name: /^Link to document 1,/ })
    await link.click()
    await page.getByText("Refused with 404.").waitFor()
    server().fixture = standard
    const { hold, sent } = await recorded(page)
    const release = hold()
    await link.dblclick()
    await link.and(page.locator(":disabled")).waitFor()
    release()
    await page.getByRole("link", { name: "Open" }).waitFor()
    await page.getByText(/ends in 5 min/).waitFor()
    expect(sent).toEqual([{ document: 0 }])
    await close(page)
  })
}

/** `pagesInBrowser.test.ts` runs these. */
export const personalTests = ({ open, server }: Board) => {
  it("masks personal data until it is revealed", async () => {
    const page = await open(`${supplier}imports/NL-0004712/`)
    await page.getByText("M… (5 characters)").waitFor()
    expect(await page.getByText("maria.keller@example.com").count()).toBe(0)
    const show = page.getByRole("button", { name: /Show personal data/ })
    server().fixture = { ...standard, refused: [[/reveal\/$/, 409]] }
    await show.click()
    await page.getByText("Refused with 409.").waitFor()
    server().fixture = standard
    const { hold, sent } = await recorded(page)
    const release = hold()
    await show.dblclick()
    await show.and(page.locator(":disabled")).waitFor()
    release()
    await page.getByText("maria.keller@example.com").waitFor()
    // Each request is an entry of the audit log.
    expect(sent).toHaveLength(1)
    await page.getByRole("button", { name: "Mask it again" }).click()
    await page.getByText("M… (5 characters)").waitFor()
    expect(await page.title()).not.toContain("NL-0004712")
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0)
    await close(page)
  })

  it("signs out", async () => {
    server().fixture = { ...standard, refused: [[/sign-out/, 503]] }
    const page = await open("/board/")
    const signOut = page.getByRole("button", { name: "Sign out" })
    await signOut.click()
    await page.getByText("You are still signed in. Refused with 503.").waitFor()
    server().fixture = standard
    await signOut.click()
    await page.waitForURL(/sign-in/)
    expect(server().posted).toEqual([{ path: "sign-out/", body: {} }])
    await close(page)
  })
}

/** The page behind a dialog updates after the action. */
const outcomes = ({ open, server }: Board) => {
  it.each([
    ["Pause…", "Pause DELTA_LEGACY", "is paused.", "Paused", ".summary button >> text=Resume…"],
    ["Retry 412 failed…", "Retry 412 accounts", "has started", "Complete", "h1 >> text=signed off"]
  ] as const)("keeps showing the outcome of %s", async (button, confirm, said, status, behind) => {
    const page = await open(supplier)
    await page.getByRole("button", { name: button }).first().click()
    server().fixture = { ...standard, status }
    const dialog = page.getByRole("dialog")
    const reason = dialog.getByLabel("Reason")
    if ((await reason.count()) > 0) await reason.fill("Late data")
    await dialog.getByRole("button", { name: confirm }).click()
    await dialog.getByText(said).waitFor()
    await page.locator(behind).waitFor()
    expect(await dialog.getByText(said).isVisible()).toBe(true)
    await dialog.getByRole("button", { name: "Close" }).click()
    await dialog.waitFor({ state: "detached" })
    await close(page)
  })
}

export const replyTests = (board: Board): void => {
  outcomes(board)
  refusals(board)
  documents(board)
}
