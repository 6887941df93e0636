/**
 * The guide and the contract as pages, made from the Markdown in `docs/guide` and `docs/contract`
 * when the gateway starts. They need no scripts; only the search has one.
 */
import { readFile } from "node:fs/promises"
import { posix } from "node:path"
import { codeList } from "./CodeList.ts"
import { documentOf, home, type Entry, type Navigation, type Page } from "./Layout.ts"
import { render, type Resolve } from "./Markdown.ts"
import { searchFiles } from "./Search.ts"
import type { File } from "@data-import/server/routing/PublishedFile"

const root = new URL("../../../../", import.meta.url)

/** Where a document is published. */
interface Source {
  readonly document: string
  readonly path: File["path"]
}

const guide = (name: string): Source => ({
  document: `docs/guide/${name}.md`,
  path: name === "overview" ? home : `/docs/${name}`
})

const contract = (name: string): Source => ({
  document: `docs/contract/${name}.md`,
  path: name === "README" ? "/docs/contract" : `/docs/contract/${name}`
})

/** In reading order. Documents for operators only are not published. */
const sections: ReadonlyArray<{ readonly title: string; readonly sources: ReadonlyArray<Source> }> =
  [
    { title: "Start", sources: ["overview", "quickstart", "sandbox"].map(guide) },
    {
      title: "Guide",
      sources: [
        "book",
        "command",
        "errors",
        "retries",
        "batches",
        "rehearsing",
        "events",
        "afterwards",
        "proving",
        "limits",
        "versions"
      ].map(guide)
    },
    {
      title: "Contract",
      sources: [
        "README",
        "http",
        "authentication",
        "errors",
        "values",
        "account",
        "import",
        "reverts",
        "post-import",
        "queries",
        "batches",
        "certificates",
        "control-totals",
        "events",
        "webhooks",
        "limits",
        "sandbox"
      ].map(contract)
    }
  ]

/** Documents that other pages include. */
const changelog = "CHANGELOG.md"
const changelogPlace = "<!-- The changelog follows. -->"
const codesPlace = "<!-- The codes follow. -->"

const sources = sections.flatMap((section) => section.sources)
const pathOf = new Map<string, string>([
  ...sources.map(({ document, path }) => [document, path] as const),
  [changelog, "/docs/versions"],
  ["docs/contract/codes.md", "/docs/errors"],
  ["libs/api/openapi.json", "/docs/reference"]
])

/** Resolves links of a document: to pages, and to external addresses. */
const resolveFrom =
  (document: string): Resolve =>
  (target) => {
    if (/^[a-z]+:/.test(target) || target.startsWith("#") || target.startsWith("/")) return target
    const [name = "", anchor] = target.split("#")
    const path = pathOf.get(posix.join(posix.dirname(document), name))
    return path === undefined ? null : anchor === undefined ? path : `${path}#${anchor}`
  }

const read = (document: string): Promise<string> => readFile(new URL(document, root), "utf8")

/** The entries of the changelog, a level deeper, with links as from the guide. */
const changes = async (): Promise<string> => {
  const [, ...entries] = (await read(changelog)).split(/^(?=## )/m)
  return entries.join("").replaceAll(/^#/gm, "##").replaceAll("](docs/", "](../")
}

const included = async (text: string): Promise<string> => {
  const withCodes = text.includes(codesPlace) ? text.replace(codesPlace, codeList) : text
  if (!withCodes.includes(changelogPlace)) return withCodes
  const entries = await changes()
  return withCodes.replace(changelogPlace, () => entries)
}

const plain = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "")

/** The first paragraph, in one line. */
const descriptionOf = (text: string): string => {
  const paragraph = text.split(/\n\n+/).find((part) => /^[\p{L}`[]/u.test(part))
  return plain(paragraph ?? "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

const pageOf = async ({ document, path }: Source): Promise<Page> => {
  const text = await included(await read(document))
  const rendered = render(text, resolveFrom(document))
  const title = rendered.headings.find(({ level }) => level === 1)?.text
  if (title === undefined) throw new Error(`${document} has no title`)
  return { ...rendered, path, title, description: descriptionOf(text) }
}

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

const html = (path: File["path"], text: string): File => ({
  path,
  text,
  contentType: "text/html; charset=utf-8",
  headers: { "content-security-policy": policy }
})

const notFound = `# There is no such page

What you look for may be on one of these pages, or in the [reference](/docs/reference).
`

/** The page for every other path of one or two segments. */
const missing = (navigation: Navigation, stylesheet: string): ReadonlyArray<File> => {
  const rendered = render(notFound, (target) => target)
  const page = { ...rendered, path: "", title: "Not found", description: "There is no such page." }
  const text = documentOf(page, navigation, stylesheet)
  return (["/docs/:page", "/docs/:folder/:page"] as const).map((path) => ({
    ...html(path, text),
    status: 404
  }))
}

/** All pages, and the page for unknown paths. */
export const guideFiles = async (stylesheet: string): Promise<ReadonlyArray<File>> => {
  const pages = new Map<string, Page>()
  for (const page of await Promise.all(sources.map(pageOf))) pages.set(page.path, page)
  const titleOf = (path: string) => (path === home ? "Overview" : (pages.get(path)?.title ?? path))
  const entry = ({ path }: Source): Entry => ({ path, title: titleOf(path) })
  const navigation: Navigation = sections.map((section) => ({
    title: section.title,
    entries: section.sources.map(entry)
  }))
  const shown = [...pages.values()].map((page) =>
    html(page.path as File["path"], documentOf(page, navigation, stylesheet))
  )
  const search = await searchFiles([...pages.values()], navigation, stylesheet)
  return [...shown, ...search, ...missing(navigation, stylesheet)]
}
