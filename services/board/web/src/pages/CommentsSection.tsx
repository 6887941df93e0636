/** What people said about a migration, a wave or an account, the newest first. */
import { personName } from "@data-import/domain/access/PersonName"
import { CommentButton, type Subject } from "../actions/CommentButton.tsx"
import type { Comment, Comments as Page } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { NotForSupplier } from "../parts/NotForSupplier.tsx"
import { Pager, usePaging } from "../parts/Pager.tsx"
import { Section } from "../parts/Section.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { deedText } from "../text/Comments.ts"

const shownAtOnce = "20"

interface SaidProps {
  readonly comment: Comment
  readonly supplier: string
  /** Whether the page is about the whole migration, so that the wave or account is named. */
  readonly isOfAll: boolean
}

const On = ({ comment, supplier }: Omit<SaidProps, "isOfAll">) => {
  const { cohort, external_account_number: number } = comment
  if (number !== null) return <Link to={pages.account(supplier, number)}>{number}</Link>
  return cohort === null ? null : <Link to={pages.wave(supplier, cohort)}>{cohort}</Link>
}

const Said = ({ comment, isOfAll, supplier }: SaidProps) => {
  const deed = deedText(comment)
  const isOfPart = comment.cohort !== null || comment.external_account_number !== null
  return (
    <li>
      <p class="quiet">
        {personName(comment.by)}, <Time at={comment.at} />
        {isOfAll && isOfPart && (
          <>
            , on <On comment={comment} supplier={supplier} />
          </>
        )}
        {deed !== "" && <span class="past">, {deed}</span>}
      </p>
      <p class="said">
        {comment.about === "corrections_sent" && "To "}
        {comment.text ?? <span class="quiet">erased with the account</span>}
      </p>
    </li>
  )
}

const Comments = ({ cohort, number, supplier }: Subject) => {
  const paging = usePaging<string>()
  const query = { cohort, external_account_number: number, before: paging.position }
  const answer = useAnswer<Page>(
    answers.of(supplier, "comments/", { ...query, limit: shownAtOnce })
  )
  const isOfAll = cohort === undefined && number === undefined
  const isEmpty = answer.value?.comments.length === 0
  return (
    <Section
      id="comments"
      class="wide"
      title="Comments"
      note={isEmpty ? "Nobody has said anything yet." : undefined}
      actions={<CommentButton supplier={supplier} cohort={cohort} number={number} />}
    >
      <Answered answer={answer} lines={2}>
        {({ comments, next_before: next }) => (
          <>
            <ol class="comments">
              {comments.map((comment) => (
                <Said
                  key={comment.comment_id}
                  comment={comment}
                  supplier={supplier}
                  isOfAll={isOfAll}
                />
              ))}
            </ol>
            {(next !== null || paging.position !== null) && (
              <Pager paging={paging} next={next} words={{ back: "Newer", next: "Older" }} />
            )}
          </>
        )}
      </Answered>
    </Section>
  )
}

export const CommentsSection = (subject: Subject) => (
  <NotForSupplier>
    <Comments {...subject} />
  </NotForSupplier>
)
