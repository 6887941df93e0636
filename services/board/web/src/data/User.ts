/** Who is signed in, for the components below. */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { Session } from "./Answers.ts"
import { answers } from "../routing/Paths.ts"
import { isSignedOut, post } from "./Http.ts"
import { refresh, refreshShown } from "./Store.ts"

export const SignedIn = createContext<Session | null>(null)

/** Whether the session has ended while the board was shown. */
export const SessionEnded = createContext(false)

export const useRole = (): Session["role"] | undefined => useContext(SignedIn)?.role

export const useIsManager = (): boolean => useRole() === "manager"

/** Whether the user is of the supplier, and is refused much that others may look at. */
export const useIsSupplier = (): boolean => useRole() === "supplier"

/** Sends a request with a body as the user. */
export const usePost = (): ((path: string, body?: unknown) => Promise<unknown>) => {
  const session = useContext(SignedIn)
  return async (path, body) => {
    try {
      return await post(path, session?.csrf_token ?? "", body)
    } catch (error) {
      if (isSignedOut(error)) void refresh(answers.session, true)
      throw error
    }
  }
}

/** Sends an action as the user, then fetches everything shown again. */
export const useAction = (): ((path: string, body?: unknown) => Promise<unknown>) => {
  const send = usePost()
  return async (path, body) => {
    const answer = await send(path, body)
    refreshShown()
    return answer
  }
}
