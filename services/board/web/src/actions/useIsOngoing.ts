/** Whether a migration accepts imports or changes; false until its status is known. */
import type { MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { answers } from "../routing/Paths.ts"
import { isOngoing, isSignedOff } from "../text/Words.ts"

const useMigration = (supplier: string) =>
  useAnswer<MigrationDetail>(answers.migration(supplier)).value?.migration

/** Whether it accepts imports. */
export const useIsOngoing = (supplier: string): boolean => {
  const migration = useMigration(supplier)
  return migration !== undefined && isOngoing(migration)
}

/** Whether staged accounts may still be changed: until the migration is signed off. */
export const useIsChangeable = (supplier: string): boolean => {
  const migration = useMigration(supplier)
  return migration !== undefined && !isSignedOff(migration)
}
