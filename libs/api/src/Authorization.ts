/**
 * Who may call an endpoint, declared: the token in the header, the caller it stands for, and the
 * scope that an endpoint asks for. The middleware is implemented where tokens are verified.
 */
import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Caller, Scope } from "@data-import/domain/organisation/Organisation"
import { errorBodies } from "./ErrorBody.ts"

/** The caller of the present request, once its token is verified. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()(
  "@data-import/api/CurrentCaller"
) {}

/** The scope that an endpoint asks for; the wider one unless it says otherwise. */
export const RequiredScope = Context.Reference<Scope>("@data-import/api/RequiredScope", {
  defaultValue: () => "import:write"
})

/** The scope that a token needs for this endpoint; known before the body is read. */
export const scopeOf = (endpoint: HttpApiEndpoint.Top): Scope =>
  Context.get(endpoint.annotations, RequiredScope)

/**
 * The whole `Authorization` header, empty where there is none. It is no `http` scheme, because
 * `Token` and `Bearer` are both taken and a missing header is another refusal than a wrong one.
 */
const token = HttpApiSecurity.apiKey({ key: "Authorization", in: "header" }).pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "`Token <ACCESS_TOKEN>`, with a token from the mutation `obtainServiceToken` of " +
      "`POST /v1/graphql/`; `Bearer <ACCESS_TOKEN>` is accepted as well. A token lives 60 minutes."
  )
)

/**
 * Verifies the token, refuses a caller without the endpoint's scope, and provides the caller. It
 * runs before the body is read. Answers 401 and 403 by itself.
 */
export class Authorization extends HttpApiMiddleware.Service<
  Authorization,
  { provides: CurrentCaller }
>()("@data-import/api/Authorization", {
  security: { token },
  error: errorBodies(["not_authenticated", "authentication_failed", "permission_denied"])
}) {}
