/**
 * Markdown as HTML: headings with anchors like GitHub's, tables and code that scroll separately,
 * and samples in several languages, of which the reader chooses one.
 */
import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import json from "highlight.js/lib/languages/json"
import python from "highlight.js/lib/languages/python"
import typescript from "highlight.js/lib/languages/typescript"
import MarkdownIt from "markdown-it"

hljs.registerLanguage("sh", bash)
hljs.registerLanguage("ts", typescript)
hljs.registerLanguage("python", python)
hljs.registerLanguage("json", json)

/** The languages of samples, as code blocks name them, and as readers see them. */
export const sampleLanguages = { sh: "curl", ts: "TypeScript", python: "Python" } as const

const isSample = (language: string): language is keyof typeof sampleLanguages =>
  language in sampleLanguages

export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

export interface Rendered {
  readonly html: string
  readonly headings: ReadonlyArray<Heading>
  /** Whether there are samples in several languages. */
  readonly hasSamples: boolean
}

/** The target of a link of the document; null if it is not published. */
export type Resolve = (target: string) => string | null

const escape = (text: string): string => MarkdownIt().utils.escapeHtml(text)

/** The anchor of a heading, as GitHub makes it. */
const slug = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

/** The state of the rules below while one document is rendered. */
interface Notes extends Record<PropertyKey, unknown> {
  readonly resolve: Resolve
  readonly headings: Array<Heading>
  readonly taken: Map<string, number>
  /** For each open link, whether its target is not published. */
  readonly dropped: Array<boolean>
  hasSamples: boolean
}

const notesOf = (env: unknown): Notes => env as Notes

const statusTexts: Readonly<Record<string, string>> = {
  "200": "OK",
  "201": "Created",
  "304": "Not Modified",
  "400": "Bad Request",
  "401": "Unauthorized",
  "409": "Conflict",
  "422": "Unprocessable Content"
}

const highlighted = (code: string, language: string): string =>
  hljs.getLanguage(language) === undefined ? escape(code) : hljs.highlight(code, { language }).value

/** A code block; the info string has its language and, for an answer, its status. */
const codeBlock = (code: string, info: string, notes: Notes): string => {
  const [language = "", note = ""] = info.trim().split(/\s+/)
  const pre = `<pre tabindex="0"><code>${highlighted(code, language)}</code></pre>`
  if (isSample(language) && note !== "shell") {
    notes.hasSamples = true
    const label = sampleLanguages[language]
    return `<figure class="sample ${language}"><figcaption>${label}</figcaption>${pre}</figure>\n`
  }
  const status = statusTexts[note]
  if (status === undefined) return `${pre}\n`
  const kind = Number(note) < 400 ? "good" : "bad"
  const caption = `<figcaption class="${kind}">${note} ${status}</figcaption>`
  return `<figure class="answer">${caption}${pre}</figure>\n`
}

const anchor = (text: string, taken: Map<string, number>): string => {
  const name = slug(text)
  const earlier = taken.get(name) ?? 0
  taken.set(name, earlier + 1)
  return earlier === 0 ? name : `${name}-${earlier}`
}

const markdown = new MarkdownIt({ html: false })
const { rules } = markdown.renderer

rules.fence = (tokens, index, _options, env) => {
  const token = tokens[index]
  return codeBlock(token?.content ?? "", token?.info ?? "", notesOf(env))
}

const textOf = (children: ReadonlyArray<{ readonly content: string }> | null): string =>
  (children ?? []).map(({ content }) => content).join("")

rules.heading_open = (tokens, index, _options, env) => {
  const { headings, taken } = notesOf(env)
  const text = textOf(tokens[index + 1]?.children ?? null)
  const level = Number(tokens[index]?.tag.slice(1))
  const id = anchor(text, taken)
  headings.push({ level, id, text })
  return `<h${level} id="${escape(id)}">`
}

rules.heading_close = (tokens, index, _options, env) => {
  const { id = "", level = 1, text = "" } = notesOf(env).headings.at(-1) ?? {}
  const link = `<a class="anchor" href="#${escape(id)}" aria-label="Link to “${escape(text)}”">#</a>`
  return `${level === 1 ? "" : ` ${link}`}</${tokens[index]?.tag}>\n`
}

rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'
rules.table_close = () => "</table></div>\n"

/** A cell of numbers has a class: the policy of the pages allows no style of an element. */
const cellOpen: typeof rules.td_open = (tokens, index) => {
  const { tag = "td" } = tokens[index] ?? {}
  const isRight = tokens[index]?.attrGet("style") === "text-align:right"
  return isRight ? `<${tag} class="right">` : `<${tag}>`
}
rules.th_open = cellOpen
rules.td_open = cellOpen

rules.link_open = (tokens, index, options, env, self) => {
  const { dropped, resolve } = notesOf(env)
  const token = tokens[index]
  const target = resolve(String(token?.attrGet("href") ?? ""))
  dropped.push(target === null)
  if (target === null) return ""
  token?.attrSet("href", target)
  return self.renderToken(tokens, index, options)
}

rules.link_close = (_tokens, _index, _options, env) =>
  notesOf(env).dropped.pop() === true ? "" : "</a>"

/** Samples that follow each other are one sample in several languages. */
const grouped = (html: string): string =>
  html.replaceAll(
    /(?:<figure class="sample [^]*?<\/figure>\s*)+/g,
    (samples) => `<div class="samples">${samples}</div>\n`
  )

export const render = (text: string, resolve: Resolve): Rendered => {
  const notes: Notes = {
    resolve,
    headings: [],
    taken: new Map(),
    dropped: [],
    hasSamples: false
  }
  const html = grouped(markdown.render(text, notes))
  return { html, headings: notes.headings, hasSamples: notes.hasSamples }
}
