/** Requests to the board's API, and how they fail. */

/** The API has refused a request. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  constructor(status: number, code: string, detail: string, requestId: string | null) {
    super(detail)
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

/** Whether the session has ended. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof Refusal && error.status === 401

/** Nothing answers: the network or the service is away. */
export class Unreachable extends Error {}

interface ErrorBody {
  readonly code?: unknown
  readonly detail?: unknown
  readonly request_id?: unknown
  readonly errors?: unknown
}

const text = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise

/** The details of the errors of fields; empty if there are none. */
const fieldErrors = (errors: unknown): string =>
  Array.isArray(errors) ? errors.map(({ detail }: ErrorBody) => text(detail, "")).join(" ") : ""

/** Whether a proxy has answered because the service cannot be reached. */
const isAway = (status: number, code: string) =>
  (status === 502 || status === 504 || status === 503) && code === ""

const refusalOf = async (response: Response): Promise<Refusal | Unreachable> => {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const code = text(body.code, "")
  if (isAway(response.status, code)) return new Unreachable("The service does not answer.")
  const said = fieldErrors(body.errors) || text(body.detail, `The answer was ${response.status}.`)
  const requestId = text(body.request_id, "") || response.headers.get("X-Request-Id")
  return new Refusal(response.status, code, said, requestId)
}

const send = async (path: string, init: RequestInit): Promise<unknown> => {
  const response = await fetch(path, { ...init, credentials: "same-origin" }).catch(
    (cause: unknown) => {
      throw new Unreachable("The service does not answer.", { cause })
    }
  )
  if (!response.ok) throw await refusalOf(response)
  return response.json()
}

/**
 * The answer of a path. It is not checked against the API's definition. A background fetch does not
 * renew the session.
 */
export const get = (path: string, isBackground: boolean): Promise<unknown> =>
  send(path, {
    headers: { Accept: "application/json", ...(isBackground && { "X-Background": "1" }) }
  })

/** Sends an action with the session's CSRF token. */
export const post = (path: string, csrfToken: string, body: unknown = {}): Promise<unknown> =>
  send(path, {
    method: "POST",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/json",
      "X-CSRF-Token": csrfToken
    },
    body: JSON.stringify(body)
  })
