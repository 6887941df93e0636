/** Who is signed in, for the components below. */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { Session } from "./Answers.ts"
import { post } from "./Http.ts"
import { refreshShown } from "./Store.ts"

export const SignedIn = createContext<Session | null>(null)

export const useIsManager = (): boolean => useContext(SignedIn)?.role === "manager"

/** Sends a request with a body as the user. */
export const usePost = (): ((path: string, body?: unknown) => Promise<unknown>) => {
  const session = useContext(SignedIn)
  return (path, body) => post(path, session?.csrf_token ?? "", body)
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
