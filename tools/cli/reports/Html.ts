/** Text for pages in which every value is escaped, unless it is a piece of HTML. */

/** A piece of a page that is not escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Control characters are not allowed in a page, and direction marks would reverse its text. */
const unprintable = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const escaped = (text: string): string =>
  text
    .replaceAll(/[\t\r\n]+/g, " ")
    .replaceAll(unprintable, "\uFFFD")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "")

type Value = string | number | Html | ReadonlyArray<Html>

const textOf = (value: Value): string => {
  if (value instanceof Html) return value.text
  return typeof value === "object" ? value.map(({ text }) => text).join("") : escaped(String(value))
}

/** The tag of a template whose values are escaped. */
export const html = (pieces: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  new Html(
    pieces.map((piece, at) => (at === 0 ? "" : textOf(values[at - 1] ?? "")) + piece).join("")
  )

/** A page that is one file, and loads nothing. */
export const htmlPage = (title: string, style: string, body: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <title>${title}</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.text
