/**
 * Operations for test organisations only.
 * Source: docs/contract/sandbox.md#emptying.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { requires } from "./Authorization.ts"
import { anyKeyed, anyProtected, errorBodies } from "./ErrorBody.ts"
import { KeyRefusal, operation } from "./Operation.ts"

const count = (description: string) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description })

const SandboxResetBody = Schema.Struct({
  imports: count("Imports, whether they were processed or not."),
  accounts: count("Accounts, with everything on them."),
  batches: count("Batches, with their lines and results."),
  events: count("Events.")
}).annotate({ identifier: "SandboxReset", description: "How much this request has deleted." })

export const resetSandbox = HttpApiEndpoint.post("resetSandbox", "/v1/data-import/sandbox/reset/", {
  success: SandboxResetBody,
  error: errorBodies([
    "request_failed_validation",
    "sandbox_in_use",
    ...anyKeyed,
    ...anyProtected,
    "request_timeout",
    "payload_too_large"
  ])
})
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Empty the sandbox",
      "Deletes all imports, accounts, batches, events and kept answers of the test organisation. " +
        "Suppliers, keys, webhooks, documents and the audit log stay. Only with a test key; with " +
        "a live one it is a 403. It takes no body. If it is a 503, send it again: it goes on.",
      {
        answers: {
          200: {
            emptied: {
              summary: "It is empty",
              value: { imports: 1_200, accounts: 1_150, batches: 3, events: 4_612 }
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:write"))
