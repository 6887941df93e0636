/** Moves through a list page by page. */
import { useState } from "preact/hooks"

export interface Paging<Position> {
  /** Where the page that is shown starts; null on the first one. */
  readonly position: Position | null
  /** Shows the page at this position; null goes back to the previous page. */
  readonly turn: (next: Position | null) => void
  /** Shows the page at this position in place of the page that is shown. */
  readonly skip: (next: Position) => void
}

/** Keeps where each visited page started, so that one can go back. */
export const usePaging = <Position,>(): Paging<Position> => {
  const [visited, setVisited] = useState<ReadonlyArray<Position>>([])
  const turn = (next: Position | null) =>
    setVisited((before) => (next === null ? before.slice(0, -1) : [...before, next]))
  const skip = (next: Position) => setVisited((before) => [...before.slice(0, -1), next])
  return { position: visited.at(-1) ?? null, turn, skip }
}

interface Props<Position> {
  readonly paging: Paging<Position>
  readonly next: Position | null
  readonly words?: { readonly back: string; readonly next: string }
}

export const Pager = <Position,>({
  next,
  paging: { position, turn },
  words = { back: "Back", next: "Next" }
}: Props<Position>) => (
  <div class="pager">
    <button type="button" disabled={position === null} onClick={() => turn(null)}>
      {words.back}
    </button>
    <button type="button" disabled={next === null} onClick={() => turn(next)}>
      {words.next}
    </button>
  </div>
)
