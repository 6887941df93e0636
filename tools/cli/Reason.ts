/** Why something failed on the client's side, in a few words. */

interface Failure {
  readonly message?: unknown
  readonly code?: unknown
  readonly cause?: unknown
  readonly reason?: unknown
}

const isFailure = (value: unknown): value is Failure => typeof value === "object" && value !== null

/** The innermost known reason; for a failed connection, that of the system call. */
export const reasonOf = (error: unknown): string => {
  if (!isFailure(error)) return typeof error === "string" ? error : "unknown"
  const inner = [error.cause, error.reason].find(isFailure)
  if (inner !== undefined) return reasonOf(inner)
  const { code, message } = error
  if (typeof message === "string" && message !== "") return message
  return typeof code === "string" ? code : "unknown"
}
