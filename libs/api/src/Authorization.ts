/**
 * The scope that an endpoint requires. The services check it before they read a body, so it is an
 * annotation and not a middleware of the endpoint.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Scope } from "@data-import/domain/suppliers/Organisation"

const RequiredScope = Context.Reference<Scope | null>("@data-import/api/RequiredScope", {
  defaultValue: () => null
})

/** The type of an endpoint whose handler has a caller. */
export interface Protected {
  readonly "~protected": true
}

/**
 * Makes an endpoint require a token with this scope. Call it last, because later annotations lose
 * the type.
 */
export const requires =
  (scope: Scope) =>
  <E extends HttpApiEndpoint.Constraint>(endpoint: E): E & Protected => {
    const annotated = (endpoint as unknown as HttpApiEndpoint.Top).annotate(RequiredScope, scope)
    return annotated as unknown as E & Protected
  }

/** The scope that this endpoint requires; null if it needs no token. */
export const scopeOf = (endpoint: HttpApiEndpoint.Top): Scope | null =>
  Context.get(endpoint.annotations, RequiredScope)
