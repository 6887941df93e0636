/** The condition of a migration: a shape, a word and a colour. */
import type { Condition as Name } from "../data/Answers.ts"
import { conditions } from "../text/Words.ts"

const shapes: Readonly<Record<Name, string>> = {
  stuck: "M4.2 1h5.6L13 4.2v5.6L9.8 13H4.2L1 9.8V4.2zM4 6v2h6V6z",
  failing: "M7 1l6.4 12H.6zM6.2 5.5v3.6h1.6V5.5zM6.2 10.2v1.6h1.6v-1.6z",
  slow: "M7 1a6 6 0 100 12A6 6 0 007 1zm0 1.5v4.9l3.6 2-.7 1.3-4.4-2.5V2.8z",
  waiting: "M7 1a6 6 0 100 12A6 6 0 007 1zm0 1.6a4.4 4.4 0 110 8.8 4.4 4.4 0 010-8.8z",
  paused: "M2.5 1.5h3.2v11H2.5zM8.3 1.5h3.2v11H8.3z",
  unfinished: "M1.5 6h11v2h-11z",
  running: "M3 1.5L12.5 7 3 12.5z",
  done: "M5.4 12L.8 7.4l1.7-1.7 2.9 2.9 6.1-6.1 1.7 1.7z"
}

export const Shape = ({ name }: { readonly name: Name }) => (
  <svg class="shape" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
    <path fill-rule="evenodd" d={shapes[name]} />
  </svg>
)

export const Condition = ({ name }: { readonly name: Name }) => (
  <span class={`condition ${name}`} title={conditions[name].meaning}>
    <Shape name={name} />
    {conditions[name].word}
  </span>
)
