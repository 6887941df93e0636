import { DateTime, Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Account } from "@data-import/domain/accounts/Account"
import {
  accountRequest,
  factsAt,
  processRequest
} from "@data-import/domain/accounts/AccountValidation"
import { batchRequest, startRequest } from "@data-import/domain/batches/BatchValidation"
import { certificateRequest } from "@data-import/domain/certificates/CertificateQuery"
import type { FieldError } from "@data-import/domain/schema/FieldErrors"
import * as PostImport from "@data-import/domain/additions/PostImportValidation"
import { exampleAccount } from "@data-import/domain/accounts/ExampleAccount"
import * as Requests from "@data-import/domain/additions/ExampleRequests"
import * as BatchExamples from "../src/BatchExamples.ts"
import * as CertificateExamples from "../src/CertificateExamples.ts"
import * as Examples from "../src/Examples.ts"

const facts = factsAt(DateTime.makeUnsafe("2025-07-01T12:00:00Z"))

const validated: ReadonlyArray<
  readonly [string, Result.Result<unknown, ReadonlyArray<FieldError>>]
> = [
  ["the account", accountRequest.validate({ payload: exampleAccount }, facts)],
  ["process", processRequest.validate(Examples.processRequest, facts)],
  ["a dry run", processRequest.validate(Examples.dryRunRequest, facts)],
  ["notes", PostImport.notesRequest.validate(Requests.notesRequest, facts)],
  ["transactions", PostImport.transactionsRequest.validate(Requests.transactionsRequest, facts)],
  ["statements", PostImport.statementsRequest.validate(Requests.statementsRequest, facts)],
  ["a batch", batchRequest.validate(BatchExamples.importBatchRequest, facts)],
  ["a batch of pending imports", batchRequest.validate(BatchExamples.pendingBatchRequest, facts)],
  ["a retry", batchRequest.validate(BatchExamples.retryRequest, facts)],
  ["the start of a batch", startRequest.validate(BatchExamples.startRequest, facts)],
  ["a certificate", certificateRequest.validate(CertificateExamples.certificateRequest, facts)],
  ["an instruction", PostImport.instructionRequest.validate(Requests.instructionRequest, facts)]
]

describe("the examples of requests", () => {
  it.each(validated)("are valid: %s", (_name, result) => {
    expect(Result.match(result, { onSuccess: () => [], onFailure: (errors) => errors })).toEqual([])
  })

  it("contain the account that validate answers", () => {
    const { payload } = Result.getOrThrow(
      accountRequest.validate({ payload: exampleAccount }, facts)
    )
    expect(Schema.encodeSync(Account)(payload)).toEqual(Examples.validatedAccount)
  })
})
