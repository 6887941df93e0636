/** The page of a check for people. */
import type { CheckResult } from "../check/CheckBook.ts"

export const htmlReport = (result: CheckResult, book: string): string => `${book} ${result.failed}`
