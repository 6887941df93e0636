/**
 * Renders pages in a real Chromium: wide and narrow, light and dark. Chromium may be absent;
 * `CHROMIUM` names one that is not in a usual place.
 */
import { existsSync } from "node:fs"
import axe from "axe-core"
import { type Browser, chromium, type Page } from "playwright-core"

const executable = [
  process.env["CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome"
].find((path) => existsSync(path))

export const hasBrowser = executable !== undefined

/** A machine that runs all tests at once takes a minute to render a large page. */
export const patience = 180_000

/** Less than a test may take, so that its failure names the step that waited. */
const stepPatience = 75_000

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable ?? "",
    timeout: patience,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ]
  })

const sizes = {
  wide: { width: 1400, height: 1000 },
  medium: { width: 820, height: 1180 },
  narrow: { width: 390, height: 844 }
}

export interface Look {
  readonly size: keyof typeof sizes
  readonly colorScheme: "light" | "dark"
}

export const wide: Look = { size: "wide", colorScheme: "light" }

/** All widths and both themes, which do not depend on each other. */
export const looks: ReadonlyArray<Look> = [
  wide,
  { size: "medium", colorScheme: "light" },
  { size: "narrow", colorScheme: "dark" }
]

export interface Opened {
  readonly page: Page
  /** Errors of the console, and requests to other servers. */
  readonly faults: Array<string>
}

interface Options extends Look {
  readonly javaScriptEnabled?: boolean
}

/** An empty page in a new context, on which any request to another origin is a fault. */
export const blank = async (
  browser: Browser,
  origin: string,
  { colorScheme, javaScriptEnabled = true, size }: Options
): Promise<Opened> => {
  const viewport = sizes[size]
  const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled })
  context.setDefaultTimeout(stepPatience)
  const page = await context.newPage()
  const faults: Array<string> = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text())
  })
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("request", (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) faults.push(url)
  })
  return { page, faults }
}

/** `rule: element` of each accessibility violation. */
export const inaccessible = async (page: Page, ignored: ReadonlyArray<string> = []) => {
  await page.evaluate(axe.source)
  const rules = Object.fromEntries(ignored.map((rule) => [rule, { enabled: false }]))
  const { violations } = await page.evaluate(
    (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(options),
    { rules, resultTypes: ["violations" as const] }
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** How far the page can be scrolled to the side. */
export const excessWidth = (page: Page): Promise<number> =>
  page.evaluate("window.scrollTo(1000, 0), window.scrollX")
