/** The codes of failures that say what is wrong. */
import type { MigrationDetail } from "../data/Answers.ts"

type Code = MigrationDetail["codes"][number]

/** It says only that there are other errors. */
const umbrella = "account_failed_validation"

/** The most frequent first. */
export const tellingCodes = ({ codes }: Pick<MigrationDetail, "codes">): ReadonlyArray<Code> => {
  const others = codes.filter(({ code }) => code !== umbrella)
  return others.length > 0 ? others : codes
}

export const missingDocument = "path_does_not_exist_in_file_store"
