/** The certificates of a migration, in a real Chromium. */
import { inaccessible } from "@data-import/server/testing/Browser"
import { expect, it } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { earlier, failed, later, running } from "../testing/sampleCertificates.ts"
import { close, headline, inChromium, supplier } from "./boardInBrowser.ts"

const certificates = `${supplier}certificates/`

inChromium("certificates on the board in Chromium", ({ open, server }) => {
  it("shows how far a certificate is, and that it is issued, without a reload", async () => {
    const page = await open(`${certificates}${running}/`)
    expect(await headline(page)).toBe("Certificate of the cohort wave-1: 12,288 of 29,231 accounts")
    await page.getByRole("progressbar", { name: "12,288 of 29,231 accounts are done" }).waitFor()
    server().fixture = { ...standard, isCertified: true }
    server().change("DELTA_LEGACY")
    await page.getByText("✓ issued").waitFor()
    await page.getByRole("link", { name: "PDF to sign" }).waitFor()
    await close(page)
  })

  it("says why a certificate has failed, and what to do", async () => {
    const page = await open(`${certificates}${failed}/`)
    await page.getByText("The record could not be signed. Issue another one.").waitFor()
    expect(await inaccessible(page)).toEqual([])
    await close(page)
  })

  it("compares two certificates, and names the figures that differ", async () => {
    const page = await open(`${certificates}${later}/`)
    await headline(page)
    await page.getByLabel("The other certificate").selectOption(earlier)
    const section = page.getByRole("region", { name: "Compare with another one" })
    await section.getByText("7 of 24 figures differ.").waitFor()
    const gas = section.getByRole("row", { name: /^Ledger GAS_LEDGER/ })
    expect(await gas.getByRole("cell").last().innerText()).toBe("+12.34")
    expect(page.url()).toContain(`?with=${earlier}`)
    await close(page)
  })

  it.each([
    [false, "58,464 accounts as of", "DELTA_LEGACY is signed off."],
    [true, "This sign-off has no certificate", "signed off, without a certificate"]
  ])(
    "says with which certificate a migration is signed off (%s)",
    async (isUncertified, ...says) => {
      server().fixture = { ...standard, isUncertified }
      const page = await open(supplier)
      await page.getByRole("button", { name: "Sign off…" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText(says[0]).waitFor()
      expect(await inaccessible(page)).toEqual([])
      await dialog.getByLabel("Type DELTA_LEGACY").fill("DELTA_LEGACY")
      await dialog.getByLabel("Sign off although").check()
      await dialog.getByLabel("Reason").fill("No more data comes")
      await dialog.getByRole("button", { name: "Sign DELTA_LEGACY off" }).click()
      await dialog.getByText(says[1]).waitFor()
      await close(page)
    }
  )
})
