/** Types of the parts of the provider that the tests use; it has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse
    ): Promise<{ readonly params: { readonly client_id: string; readonly scope: string } }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object
    ): Promise<void>
  }
}
