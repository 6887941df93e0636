/** Invites a person of the supplier by a link, and revokes such an invitation. */
import { useState } from "preact/hooks"
import type { Invitations, Invited } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

type Invitation = Invitations["invitations"][number]

interface Of {
  readonly supplier: string
}

interface DialogProps extends Of {
  readonly close: () => void
}

/** It stays in the dialog alone, and is gone once that is closed. */
const Link = ({ person, url }: { readonly person: string; readonly url: string }) => {
  const [said, setSaid] = useState("")
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url)
      setSaid("Copied.")
    } catch {
      setSaid("This browser does not let the board copy. Select the link, and copy it.")
    }
  }
  return (
    <>
      <p>
        Send this link to {person} by a way that only {person} reads. It is shown this once, and
        must be used within 7 days.
      </p>
      <label class="field">
        <span>Link</span>
        <textarea
          rows={3}
          value={url}
          readOnly
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </label>
      <p class="actions">
        <button type="button" class="action" onClick={() => void copy()}>
          Copy the link
        </button>
        <span role="status">{said}</span>
      </p>
    </>
  )
}

const Invite = ({ close, supplier }: DialogProps) => {
  const act = useAction()
  const [entered, setEntered] = useState("")
  const person = entered.trim()
  const run = async () => {
    const { url } = (await act(answers.of(supplier, "invitations/"), { person })) as Invited
    return <Link url={url} person={person} />
  }
  return (
    <ActionDialog
      title={`Invite a person of ${supplier}`}
      confirm="Make the link"
      isReady={person !== ""}
      run={run}
      close={close}
    >
      <p>
        Whoever has the link sees the migration of {supplier}, what is to be corrected with personal
        data, and no comments, no names of yours, and no other migration. It is first used within 7
        days, and works again for 30 days. You can revoke it at any time.
      </p>
      <label class="field">
        <span>Name or e-mail address of the person, for the audit log</span>
        <input
          type="text"
          value={entered}
          maxLength={50}
          autocomplete="off"
          onInput={({ currentTarget }) => setEntered(currentTarget.value)}
        />
      </label>
    </ActionDialog>
  )
}

export const InviteButton = ({ supplier }: Of) => (
  <ActionButton
    name="Invite the supplier…"
    dialog={(close) => <Invite supplier={supplier} close={close} />}
  />
)

interface RevokeProps extends Of {
  readonly invitation: Invitation
}

const Revoke = ({ close, invitation, supplier }: RevokeProps & DialogProps) => {
  const act = useAction()
  const { invitation_id: id, person } = invitation
  const run = async () => {
    await act(answers.of(supplier, `invitations/${encodeURIComponent(id)}/revoke/`))
    return <p>The link of {person} no longer works.</p>
  }
  return (
    <ActionDialog
      title={`Revoke the invitation of ${person}`}
      confirm="Revoke it"
      run={run}
      close={close}
    >
      <p>
        The link no longer works, and {person} is signed out. This cannot be undone: invite the
        person again.
      </p>
    </ActionDialog>
  )
}

export const RevokeButton = (props: RevokeProps) => (
  <ActionButton
    name="Revoke…"
    label={`Revoke the invitation of ${props.invitation.person}…`}
    dialog={(close) => <Revoke {...props} close={close} />}
  />
)
