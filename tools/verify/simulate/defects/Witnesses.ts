/**
 * The seed that reveals each planted defect. The tests run these seeds only. A seed may reveal
 * nothing any more once the traffic has changed: `npm run simulate -- --witnesses` finds others.
 */

type Witnesses = Readonly<Record<string, number>>

/** Of storage, with everything that the simulation observes. */
export const storage: Witnesses = {
  "stage does not see the lease": 41,
  "stage says so before anything is stored": 134,
  "stage lets an attempt keep its expired lease": 41,
  "claim takes a lease that somebody holds": 7,
  "claim does not count the leases": 40,
  "complete does not ask who holds the lease": 87,
  "complete forgets its event": 134,
  "dryRun leaves the account there": 58,
  "release forgets the lease": 58,
  "release does not write down why": 58,
  "renew serves any attempt": 337,
  "skip does not see an account": 134,
  "the list of pending imports has the skipped ones": 134,
  "a decision is stored twice": 134,
  "a balance is a double": 134,
  "what was decided is stored later": 34,
  "notes are not looked up": 58,
  "every supplier's day is that of UTC": 149,
  "every supplier is Ongoing": 58,
  "an answer is kept in a step of its own": 134,
  "a change does not look at its reservation": 11,
  "a staging does not look at its reservation": 14,
  "a completion keeps no answer": 63,
  "an answer is kept for an hour": 99,
  "an answer is kept for ever": 1,
  "a key is given to many at once": 134,
  "a key that a dead request holds is never free": 134,
  "a key does not distinguish requests": 134,
  "organisations share their keys": 58,
  "a release takes a kept answer along": 10,
  "a release does nothing": 58,
  "two workers take the same lines": 8,
  "lines of one account overtake each other": 8,
  "keys are deleted when lines are taken again": 16,
  "lines of a paused batch are taken": 8,
  "the end of the last line of a chunk is lost": 8,
  "lines are counted once more when their chunk is finished": 8,
  "results are lost although they are counted": 8,
  "an import that somebody has staged is replaced by that of a line": 296,
  "the imports of a chunk are stored without their ends": 8,
  "cancelling ends lines in hand": 280,
  "cancelling forgets what lines have staged": 792,
  "cancelling forgets lines that were given back": 8,
  "an upload stores lines again that were received": 120,
  "a worker that has lost its lines may go on": 2112,
  "a worker that has lost its lines may end them": 216
}

/** Of programs. */
export const programs: Witnesses = {
  "stage lets a rival in": 63,
  "stage answers before it has stored": 134,
  "a failed stage is answered with success": 134,
  "transactions do not pass their key on": 1,
  "a replay says something else": 134,
  "every run of a line has a key of its own": 16,
  "a line is answered before it is stored": 8
}

/** Of storage, with what clients observe alone. */
export const storageSeen: Witnesses = {
  "stage says so before anything is stored": 134,
  "dryRun leaves the account there": 58,
  "skip does not see an account": 134,
  "a decision is stored twice": 134,
  "notes are not looked up": 47,
  "an answer is kept in a step of its own": 10,
  "a change does not look at its reservation": 20,
  "a staging does not look at its reservation": 9,
  "a key does not distinguish requests": 10,
  "organisations share their keys": 58,
  "a release takes a kept answer along": 293,
  "a key that a dead request holds is never free": 134,
  "lines are counted once more when their chunk is finished": 16
}

/** Of programs, with what clients observe alone. */
export const programsSeen: Witnesses = {
  "stage lets a rival in": 63,
  "stage answers before it has stored": 134,
  "a failed stage is answered with success": 134,
  "transactions do not pass their key on": 1,
  "a replay says something else": 58
}
