/**
 * The frame around every page: the bar, the navigation, the headings of the page, the link to the
 * next page.
 */
import { type Heading, sampleLanguages } from "./Markdown.ts"

export interface Entry {
  readonly path: string
  readonly title: string
}

/** The path of the first page. */
export const home = "/docs"

export const searchPath = "/docs/search"

const contractPath = "/docs/contract"

const titleOf = ({ path, title }: Page): string => {
  if (path === home) return "Data Import"
  return `${title} · ${path.startsWith(`${contractPath}/`) ? "Contract · " : ""}Data Import`
}

/** The navigation: sections with their pages, in reading order. */
export type Navigation = ReadonlyArray<{
  readonly title: string
  readonly entries: ReadonlyArray<Entry>
}>

export interface Page {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly html: string
  readonly headings: ReadonlyArray<Heading>
  readonly hasSamples: boolean
}

export const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

const mark =
  '<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M4 6h9M4 12h13M4 18h9" ' +
  'fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/><path d="m15.5 7.5 ' +
  '4.5 4.5-4.5 4.5" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" ' +
  'stroke-linejoin="round"/></svg>'

/** The bar that is above every page. */
export const bar = (path: string): string => {
  const link = (target: string, text: string) => {
    const isOfGuide = path !== "/docs/reference" && path !== searchPath
    const isHere = target === home ? path.startsWith(home) && isOfGuide : path === target
    return `<a href="${target}"${isHere ? ' aria-current="true"' : ""}>${text}</a>`
  }
  return `<nav class="bar" aria-label="Documentation">
<a class="brand" href="/docs">${mark}Data Import</a>
${link("/docs", "Guide")}
${link("/docs/reference", "Reference")}
${link(searchPath, "Search")}
</nav>`
}

const chooser = (): string => {
  const choices = Object.entries(sampleLanguages).map(
    ([id, label], index) =>
      `<input type="radio" name="language" id="language-${id}"${index === 0 ? " checked" : ""}>` +
      `<label for="language-${id}">${label}</label>`
  )
  return `<fieldset class="languages"><legend>Samples in</legend>${choices.join("")}</fieldset>`
}

const navigationOf = (navigation: Navigation, path: string): string => {
  const item = (entry: Entry) => {
    const here = entry.path === path ? ' aria-current="page"' : ""
    return `<li><a href="${entry.path}"${here}>${escape(entry.title)}</a></li>`
  }
  const sections = navigation.map(
    ({ entries, title }) => `<p>${escape(title)}</p><ul>${entries.map(item).join("")}</ul>`
  )
  return sections.join("\n")
}

const contents = ({ headings }: Page): string => {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ""
  const items = shown.map(
    ({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${escape(text)}</a></li>`
  )
  return `<nav class="contents" aria-label="On this page"><p>On this page</p>
<ul>${items.join("")}</ul></nav>`
}

const neighbours = (navigation: Navigation, path: string): string => {
  const all = navigation.flatMap(({ entries }) => entries)
  const index = all.findIndex((entry) => entry.path === path)
  const link = (entry: Entry | undefined, kind: string, label: string) =>
    entry === undefined
      ? "<span></span>"
      : `<a class="${kind}" href="${entry.path}"><span>${label}</span> ${escape(entry.title)}</a>`
  if (index === -1) return ""
  const [before, after] = [all[index - 1], all[index + 1]]
  return `<nav class="neighbours" aria-label="Previous and next page">${link(before, "before", "Previous")}${link(after, "after", "Next")}</nav>`
}

/** A page as a whole document. */
export const documentOf = (page: Page, navigation: Navigation, stylesheet: string): string => {
  const list = navigationOf(navigation, page.path)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escape(page.description)}">
<title>${escape(titleOf(page))}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body${page.path === home ? ' class="home"' : ""}>
<a class="skip" href="#content">Skip to the content</a>
${bar(page.path)}
<div class="frame">
<details class="menu">
<summary>Menu</summary>
<nav aria-label="Pages, as a menu">${list}</nav>
</details>
<nav class="pages" aria-label="Pages">${list}</nav>
<main id="content">
${page.hasSamples ? chooser() : ""}
<article>
${page.html}</article>
${neighbours(navigation, page.path)}
</main>
${contents(page)}
</div>
</body>
</html>
`
}
