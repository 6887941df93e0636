/** The priority of the process: on a shared machine, services that answer requests go first. */
import { constants, getPriority, setPriority } from "node:os"

/** Does not change a process that was started with a lower priority: only root may raise it. */
export const lowerPriority = (): void => {
  const { PRIORITY_BELOW_NORMAL } = constants.priority
  if (getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL)
}
