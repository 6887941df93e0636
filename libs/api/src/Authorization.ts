/**
 * Who may call an endpoint: nobody without a token of the endpoint's scope, where it has one. The
 * services check it before they read a body, so it is an annotation and not a middleware of the
 * endpoint.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Scope } from "@data-import/domain/organisation/Organisation"

const RequiredScope = Context.Reference<Scope | null>("@data-import/api/RequiredScope", {
  defaultValue: () => null
})

/** The type of an endpoint whose handler has a caller. */
export interface Protected {
  readonly "~protected": true
}

/**
 * Makes an endpoint ask for a token with this scope. It comes last, because what is annotated after
 * it loses the type.
 */
export const requires =
  (scope: Scope) =>
  <E extends HttpApiEndpoint.Constraint>(endpoint: E): E & Protected => {
    const { annotate } = endpoint as unknown as HttpApiEndpoint.Top
    return annotate.call(endpoint, RequiredScope, scope) as unknown as E & Protected
  }

/** The scope that a token needs for this endpoint; null where it takes no token. */
export const scopeOf = (endpoint: HttpApiEndpoint.Top): Scope | null =>
  Context.get(endpoint.annotations, RequiredScope)
