/**
 * The search over all pages: one page with every section as a text, which a script of its own
 * filters. It asks no server, and without scripts the browser's own search finds everything in it.
 */
import { readFile } from "node:fs/promises"
import { type File, forEver, hashOf } from "@data-import/server/routing/PublishedFile"
import { documentOf, escape, type Navigation, type Page, searchPath } from "./Layout.ts"

const scriptFile = new URL("../../assets/search.js", import.meta.url)

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface Section {
  readonly target: string
  readonly title: string
  /** Escaped, as in the page. */
  readonly text: string
}

const withoutTags = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** The sections of a page, from heading to heading. */
const sectionsOf = ({ headings, html, path, title }: Page): ReadonlyArray<Section> =>
  html
    .split(/<h[1-6] id="[^"]*">[^]*?<\/h[1-6]>/)
    .slice(1)
    .map((body, index) => {
      const { id = "", level = 1, text = "" } = headings[index] ?? {}
      return level === 1
        ? { target: path, title, text: withoutTags(body) }
        : { target: `${path}#${id}`, title: `${title}: ${text}`, text: withoutTags(body) }
    })

const itemOf = ({ target, text, title }: Section): string =>
  `<li><a href="${escape(target)}">${escape(title)}</a><p>${text}</p></li>`

/** The page and its script. */
export const searchFiles = async (
  pages: ReadonlyArray<Page>,
  navigation: Navigation,
  stylesheet: string
): Promise<ReadonlyArray<File>> => {
  const text = await readFile(scriptFile, "utf8")
  const script: File = {
    path: `/docs/assets/search.${hashOf(text)}.js`,
    text,
    contentType: "text/javascript; charset=utf-8",
    headers: forEver
  }
  const page: Page = {
    path: searchPath,
    title: "Search",
    description: "Finds sections of the guide and the contract by their words.",
    headings: [],
    hasSamples: false,
    html: `<h1>Search</h1>
<p class="search"><label for="query">Words</label> <input id="query" type="search" autocomplete="off"></p>
<p id="found" role="status"></p>
<ol id="sections" class="sections">${pages.flatMap(sectionsOf).map(itemOf).join("\n")}</ol>
<script type="module" src="${script.path}"></script>
`
  }
  const shown: File = {
    path: searchPath,
    text: documentOf(page, navigation, stylesheet),
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy }
  }
  return [shown, script]
}
