/** Who is signed in, for the components below. */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { Session } from "./Answers.ts"
import { post } from "./Http.ts"
import { refreshShown } from "./Store.ts"

export const SignedIn = createContext<Session | null>(null)

export const useIsManager = (): boolean => useContext(SignedIn)?.role === "manager"

/** Sends an action as the user, then fetches everything shown again. */
export const useAction = (): ((path: string, body?: unknown) => Promise<unknown>) => {
  const session = useContext(SignedIn)
  return async (path, body) => {
    const answer = await post(path, session?.csrf_token ?? "", body)
    refreshShown()
    return answer
  }
}
