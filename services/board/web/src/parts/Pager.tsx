/** Moves through a list page by page; `turn(null)` goes back. */
interface Props<Next> {
  readonly isFirst: boolean
  readonly next: Next | null
  readonly turn: (next: Next | null) => void
}

export const Pager = <Next,>({ isFirst, next, turn }: Props<Next>) => (
  <div class="pager">
    <button type="button" disabled={isFirst} onClick={() => turn(null)}>
      Back
    </button>
    <button type="button" disabled={next === null} onClick={() => turn(next)}>
      Next
    </button>
  </div>
)
