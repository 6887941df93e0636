/**
 * The place of the program that called the client, in the stack of an error. Errors are made later
 * and elsewhere, so their own stacks do not have it.
 */
import { isCallError } from "./Errors.ts"

/** The frames above this function, where the engine tells them. */
export const framesAbove = (callee: (...call: ReadonlyArray<unknown>) => unknown): string => {
  const holder: { stack?: string } = {}
  Error.captureStackTrace?.(holder, callee)
  return (holder.stack ?? "").split("\n").slice(1).join("\n")
}

/** Several calls can fail with one error, for example that of their token. */
const framed = new WeakSet<Error>()

/** The error of a call, whose stack begins with these frames. Another error is unchanged. */
export const withFrames = (error: unknown, frames: string): unknown => {
  if (!isCallError(error) || frames === "" || framed.has(error)) return error
  framed.add(error)
  const { stack = "" } = error
  const own = stack.search(/^ +at /m)
  const [head, rest] = own === -1 ? [`${stack}\n`, ""] : [stack.slice(0, own), stack.slice(own)]
  error.stack = `${head}${frames}\n${rest}`
  return error
}
