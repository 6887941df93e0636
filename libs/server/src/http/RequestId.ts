/**
 * The id under which a request is found again in the answer, the logs, the traces and the audit
 * log.
 * Source: docs/contract/http.md#request-id.
 */
import { randomUUID } from "node:crypto"
import type { RequestId as Id } from "@data-import/domain/organisation/Organisation"

export const header = "x-request-id"

const sane = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's id where it is sane, otherwise a new one. */
export const of = (sent: string | undefined): Id =>
  (sent !== undefined && sane.test(sent) ? sent : randomUUID()) as Id
