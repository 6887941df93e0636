/** One invitation that was used, and one that was not. */
import type { InvitationsBody } from "@data-import/api/board/Invitations"

type Invitations = (typeof InvitationsBody.Type)["invitations"]

export const usedInvitation = "00000000-0000-4000-8000-0000000000a1"

export const invitations = (instantBefore: (hours: number) => string): Invitations => [
  {
    invitation_id: "00000000-0000-4000-8000-0000000000a2",
    person: "finance@delta.example",
    by: "board:Maria Keller",
    at: instantBefore(3),
    expires_at: instantBefore(3 - 7 * 24),
    used_at: null
  },
  {
    invitation_id: usedInvitation,
    person: "Ben Adams",
    by: "board:Ann Lee",
    at: instantBefore(50),
    expires_at: instantBefore(50 - 30 * 24),
    used_at: instantBefore(1)
  }
]
