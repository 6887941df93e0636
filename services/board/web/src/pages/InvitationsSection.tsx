/** Who of the supplier is invited to look at the migration. */
import { personName } from "@data-import/domain/access/PersonName"
import { InviteButton, RevokeButton } from "../actions/InviteButton.tsx"
import type { Invitations } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { NotForSupplier } from "../parts/NotForSupplier.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { answers } from "../routing/Paths.ts"

type Invitation = Invitations["invitations"][number]

interface Props {
  readonly supplier: string
}

const columnsFor = (supplier: string): ReadonlyArray<Column<Invitation>> => [
  { name: "Person", isHead: true, cell: ({ person }) => person },
  { name: "Invited by", cell: ({ by }) => personName(by) },
  { name: "Invited", cell: ({ at }) => <Time at={at} /> },
  {
    name: "Used last",
    cell: ({ used_at: at }) => (at === null ? "not yet" : <Time at={at} />)
  },
  { name: "Works until", cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: (invitation) => <RevokeButton supplier={supplier} invitation={invitation} />
  }
]

const Invited = ({ supplier }: Props) => {
  const answer = useAnswer<Invitations>(answers.of(supplier, "invitations/"))
  const isEmpty = answer.value?.invitations.length === 0
  return (
    <Section
      id="invitations"
      class="wide"
      title="People of the supplier"
      note={isEmpty ? "Nobody is invited by a link." : undefined}
      actions={<InviteButton supplier={supplier} />}
    >
      <Answered answer={answer} lines={2}>
        {({ invitations }) =>
          invitations.length > 0 && (
            <Table
              caption="Invitations of people of the supplier, the newest first"
              columns={columnsFor(supplier)}
              rows={invitations}
              keyOf={({ invitation_id }) => invitation_id}
            />
          )
        }
      </Answered>
    </Section>
  )
}

export const InvitationsSection = (props: Props) => (
  <NotForSupplier>
    <Invited {...props} />
  </NotForSupplier>
)
