/** Comments of every kind, on a migration, a wave and an account. */
import type * as Comments from "@data-import/api/board/Comments"

type Comment = typeof Comments.CommentBody.Type

const said = (at: string, some: Partial<Comment>): Comment => ({
  comment_id: crypto.randomUUID(),
  at,
  by: "board:Maria Keller",
  about: "comment",
  cohort: null,
  external_account_number: null,
  text: null,
  open: null,
  ...some
})

export const comments = (
  query: URLSearchParams,
  instantBefore: (hours: number) => string
): typeof Comments.CommentsBody.Type => {
  const all = [
    said(instantBefore(1), { external_account_number: "NL-0004712" }),
    said(instantBefore(20), {
      about: "corrections_sent",
      cohort: "wave-1",
      text: "Ben Adams, ACME",
      open: [
        { what: "FAILED", count: 120 },
        { what: "LINES_REFUSED", count: 3 }
      ]
    }),
    said(instantBefore(30), {
      about: "pause",
      by: "board:Ann Lee",
      text: "Waiting for corrected dates.\nThey come on 7 December.",
      open: [
        { what: "FAILED", count: 412 },
        { what: "BATCHES", count: 1 }
      ]
    }),
    said(instantBefore(300), { external_account_number: "NL-0004712", text: "They have called." })
  ]
  const isAsked = (name: "about" | "cohort" | "external_account_number", one: Comment) =>
    query.get(name) === null || query.get(name) === one[name]
  const comments = all.filter(
    (one) =>
      isAsked("about", one) && isAsked("cohort", one) && isAsked("external_account_number", one)
  )
  return { comments, next_before: null }
}
