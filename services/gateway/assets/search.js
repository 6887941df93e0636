/** Shows the sections that have all words of the query, those with the words in their title first. */
const field = document.querySelector("#query")
const list = document.querySelector("#sections")
const found = document.querySelector("#found")

const sections = [...list.children].map((item, index) => {
  const text = item.querySelector("p")
  return {
    item,
    index,
    paragraph: text,
    full: text.textContent,
    title: item.querySelector("a").textContent.toLowerCase(),
    words: item.textContent.toLowerCase()
  }
})

const around = 120

/** The text around the first of the words. */
const excerpt = (text, words) => {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0)
  const at = places.length === 0 ? 0 : Math.min(...places)
  const start = Math.max(0, at - around)
  return `${start > 0 ? "…" : ""}${text.slice(start, at + around)}${at + around < text.length ? "…" : ""}`
}

const search = () => {
  const words = field.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const rank = ({ title }) => words.filter((word) => !title.includes(word)).length
  const matches =
    words.length === 0
      ? []
      : sections
          .filter((section) => words.every((word) => section.words.includes(word)))
          .sort((one, other) => rank(one) - rank(other) || one.index - other.index)
  for (const { paragraph, full } of matches) paragraph.textContent = excerpt(full, words)
  list.replaceChildren(...matches.map(({ item }) => item))
  found.textContent =
    words.length === 0 ? "" : matches.length === 1 ? "1 section" : `${matches.length} sections`
}

field.value = new URLSearchParams(location.search).get("q") ?? ""
field.addEventListener("input", () => {
  history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`)
  search()
})
search()
field.focus()
