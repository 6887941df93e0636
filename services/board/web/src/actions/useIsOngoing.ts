/** Whether a migration accepts imports; false until that is known. */
import type { MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { answers } from "../routing/Paths.ts"
import { isOngoing } from "../text/Words.ts"

export const useIsOngoing = (supplier: string): boolean => {
  const { value } = useAnswer<MigrationDetail>(answers.migration(supplier))
  return value !== undefined && isOngoing(value.migration)
}
