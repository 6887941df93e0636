/**
 * Validates a line of a VALIDATE batch by itself: what the program of the single endpoint answers
 * to a supplier of which these facts are known, and whose documents are not looked up.
 * Source: docs/contract/batches.md#operations.
 */
import { Result } from "effect"
import type { Batch } from "../batch/Batch.ts"
import type { BatchLine } from "../batch/BatchLine.ts"
import type { Facts } from "../schema/Rules.ts"
import type { Steps } from "../support/Steps.ts"
import { type AccountRequest, accountRequest } from "../validation/AccountValidation.ts"
import { judged } from "../validation/RequestValidation.ts"
import { accountRequestOf, readingSent } from "./LineOperations.ts"
import type { LineFailure } from "./LineResult.ts"

export function* validatingLine(
  batch: Batch,
  bytes: BatchLine["bytes"],
  facts: Facts
): Steps<Result.Result<AccountRequest, LineFailure>> {
  const sent = yield* readingSent(batch, bytes)
  if (Result.isFailure(sent)) return Result.fail(sent.failure)
  const validated = yield* accountRequest.validating(accountRequestOf(sent.success), facts)
  return judged("account_failed_validation", sent.success.errors, validated)
}
