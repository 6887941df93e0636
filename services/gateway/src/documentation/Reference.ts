/**
 * The reference: every operation and schema of the interface, with search and samples, shown by
 * Scalar. Effect brings a fixed version of it as one script. The page loads nothing from elsewhere
 * and sends nothing: features that would are switched off here, and its policy forbids them.
 */
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiScalar } from "effect/http-api"
import { type File, forEver, hashOf } from "@data-import/server/routing/PublishedFile"

/** The page that Effect makes for an API, with the script inside. */
const pageOfEffect = async (): Promise<string> => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    HttpApiScalar.layer(HttpApi.make("data-import")),
    { disableLogger: true }
  )
  const answer = await handler(new Request("http://localhost/docs"))
  const page = await answer.text()
  await dispose()
  return page
}

/** @throws if the page embeds no script. */
const scriptIn = (page: string): string => {
  const [, script] = /<script>([^]+?)<\/script>\s*<script>\s*window\.Scalar/.exec(page) ?? []
  if (script === undefined) throw new Error("The page of the reference holds no script")
  return script
}

/** Scalar writes its styles into the page, so the policy has to allow inline styles. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

const configuration = {
  url: "/openapi.json",
  theme: "default",
  layout: "modern",
  // Its fonts, telemetry, assistant and request client would call servers of Scalar.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideDarkModeToggle: true,
  hideClientButton: true,
  hideTestRequestButton: true,
  showDeveloperTools: "never",
  documentDownloadType: "none",
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: "preserve",
  metaData: { title: "Reference · Data Import" }
}

const asset = (name: string, extension: string, contentType: string, text: string): File => ({
  path: `/docs/assets/${name}.${hashOf(text)}.${extension}`,
  text,
  contentType,
  headers: forEver
})

export interface Frame {
  /** The address of the stylesheet. */
  readonly stylesheet: string
  /** The bar that is above every page. */
  readonly bar: string
}

const page = ({ bar, stylesheet }: Frame, scripts: ReadonlyArray<string>): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reference · Data Import</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body class="reference">
${bar}
<div id="reference"></div>
<noscript><p>The reference needs scripts. The same document is at
<a href="/openapi.json">openapi.json</a>.</p></noscript>
${scripts.map((path) => `<script src="${path}"></script>`).join("\n")}
</body>
</html>
`

/** The page of the reference, and the scripts that it loads. */
export const referenceFiles = async (frame: Frame): Promise<ReadonlyArray<File>> => {
  const javascript = "text/javascript; charset=utf-8"
  const scalar = asset("scalar", "js", javascript, scriptIn(await pageOfEffect()))
  const settings = JSON.stringify(configuration)
  const start = asset(
    "reference",
    "js",
    javascript,
    `Scalar.createApiReference(document.getElementById("reference"), ${settings})\n`
  )
  const reference: File = {
    path: "/docs/reference",
    text: page(frame, [scalar.path, start.path]),
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy }
  }
  return [reference, scalar, start]
}
