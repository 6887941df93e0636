/** The operations of the contract as functions, group by group, with their types. */
import type { Effect } from "effect"
import type { Answered, CallOptions } from "./Calls.ts"
import type { AnswerOf, CodeOf, EndpointsOf, GroupName, RequestOf } from "./ClientApi.ts"
import type { CallError } from "./Errors.ts"

type Arguments<Request> = {} extends Request
  ? [request?: Request, options?: CallOptions]
  : [request: Request, options?: CallOptions]

/**
 * An operation. `withResponse` also returns the status and the headers of the answer. Only there
 * may the value be undefined, for a 304.
 */
export interface Operation<Request, Answer, Error> {
  (...call: Arguments<Request>): Effect.Effect<Exclude<Answer, undefined>, Error>
  readonly withResponse: (...call: Arguments<Request>) => Effect.Effect<Answered<Answer>, Error>
}

/** The operations of a group by their names. */
export type Group<Name extends GroupName> = {
  readonly [Endpoint in EndpointsOf<Name> as Endpoint["identifier"]]: Operation<
    RequestOf<Endpoint>,
    AnswerOf<Endpoint>,
    CallError<CodeOf<Endpoint>>
  >
}

/** All groups by their names. */
export type Operations = { readonly [Name in GroupName]: Group<Name> }

type OperationOf<Name extends GroupName, Id extends keyof Group<Name>> = Group<Name>[Id]

/** The answer of an operation. */
export type Answer<Name extends GroupName, Id extends keyof Group<Name>> =
  OperationOf<Name, Id> extends Operation<never, infer A, unknown> ? Exclude<A, undefined> : never

/** The errors of an operation. */
export type ErrorOf<Name extends GroupName, Id extends keyof Group<Name>> =
  OperationOf<Name, Id> extends Operation<never, unknown, infer E> ? E : never
