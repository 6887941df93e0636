/** A request of a user of the board, for the audit log: `board:` and the name. */
import { Effect } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import { callerOf, CurrentOperator, type OperatorCommand } from "../access/Operator.ts"
import type { Caller, OrganisationName, RequestId } from "../suppliers/Organisation.ts"

export interface BoardCaller {
  readonly user: BoardUser
  readonly requestId: RequestId
}

const commandOf = ({ requestId, user }: BoardCaller): OperatorCommand => ({
  name: user.name,
  on: "board",
  requestId
})

/** The user as a caller who acts for this organisation. */
export const callerFor = (caller: BoardCaller, organisation: OrganisationName): Caller =>
  callerOf(commandOf(caller), organisation)

/** Storage records what the effect does in the name of the user. */
export const actingAs =
  (caller: BoardCaller) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CurrentOperator, commandOf(caller))
