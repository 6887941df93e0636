/** A refusal by the peer: a status, a stable code and, if there are any, the errors by field. */

export interface FieldError {
  readonly detail: string
  readonly code: string
  readonly attr: string
}

/** Thrown anywhere in a request; the error handler turns it into the answer. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly body: object

  constructor(status: number, code: string, body: object = {}) {
    super(code)
    this.status = status
    this.code = code
    this.body = body
  }
}

export const invalid = (code: string, errors: ReadonlyArray<FieldError>): Refusal =>
  new Refusal(400, code, { errors })

export const notFound = (): Refusal => new Refusal(404, "not_found")
