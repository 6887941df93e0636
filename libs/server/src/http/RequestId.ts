/**
 * The id of a request in its answer, the logs, the traces and the audit log.
 * Source: docs/contract/http.md#request-id.
 */
import { randomUUID } from "node:crypto"
import type { RequestId as Id } from "@data-import/domain/suppliers/Organisation"

export const header = "x-request-id"

const valid = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's id if it is valid, otherwise a new one. */
export const of = (sent: string | undefined): Id =>
  (sent !== undefined && valid.test(sent) ? sent : randomUUID()) as Id
