/**
 * Validates a line of a VALIDATE batch offline, like the program of the single endpoint: from given
 * facts about the supplier, without looking up documents.
 * Source: docs/contract/batches.md#operations.
 */
import { type DateTime, Result } from "effect"
import * as Batch from "./Batch.ts"
import type { BatchLine } from "./BatchLine.ts"
import { OrganisationName } from "../suppliers/Organisation.ts"
import { codeIn, type WireCode } from "../suppliers/Supplier.ts"
import type { Facts } from "../schema/Rules.ts"
import type { Steps } from "../support/Steps.ts"
import { type AccountRequest, accountRequest } from "../accounts/AccountValidation.ts"
import { judged } from "../requests/RequestValidation.ts"
import { readSentInSteps } from "./LineOperations.ts"
import type { LineFailure } from "./LineResult.ts"

/** A VALIDATE batch of the supplier that is never stored, for offline validation. */
export const offlineBatch = (supplier: WireCode, createdAt: DateTime.Utc): Batch.Batch =>
  Batch.open({
    id: Batch.BatchId.make("00000000-0000-4000-8000-000000000000"),
    organisation: OrganisationName.make("offline"),
    settings: {
      ...Batch.defaultSettings,
      supplier: codeIn("live", supplier),
      operation: "VALIDATE"
    },
    createdAt
  })

export function* validateLineInSteps(
  batch: Batch.Batch,
  bytes: BatchLine["bytes"],
  facts: Facts
): Steps<Result.Result<AccountRequest, LineFailure>> {
  const sent = yield* readSentInSteps(batch, bytes)
  if (Result.isFailure(sent)) return Result.fail(sent.failure)
  const validated = yield* accountRequest.validateInSteps(sent.success.accountRequest, facts)
  return judged("account_failed_validation", sent.success.errors, validated)
}
