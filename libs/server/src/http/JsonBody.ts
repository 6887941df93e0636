/**
 * Reads the body of a POST in the contract's order: media type, size, bytes, UTF-8, JSON.
 * Source: docs/contract/http.md#order-of-checks.
 */
import { Effect } from "effect"
import { UnsupportedMediaType } from "@data-import/api/Refusal"
import type { NotJson } from "@data-import/domain/schema/Json"
import { parseBytesInSteps } from "@data-import/domain/schema/JsonBytes"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { inTimeSlices } from "@data-import/domain/support/Steps"
import { smallBytes } from "@data-import/domain/requests/WorkBudget"
import type { IncomingRequest } from "./IncomingRequest.ts"
import type { BodyRefused } from "./RequestBody.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** The media type in lower case, without parameters. */
export const mediaType = (headers: Headers): string =>
  ((headers["content-type"] ?? "").split(";", 1)[0] as string).trim().toLowerCase()

/** The content encoding in lower case. */
export const encodingOf = (headers: Headers): string =>
  headers["content-encoding"]?.trim().toLowerCase() || "identity"

/** Whether the headers announce JSON that is not encoded. */
const announcesJson = (headers: Headers): boolean =>
  mediaType(headers) === "application/json" && encodingOf(headers) === "identity"

/**
 * The parsed body. It is interruptible, because the request has had no effect yet.
 */
export const parse = (bytes: Buffer): Effect.Effect<unknown, NotJson> =>
  Effect.interruptible(
    Effect.flatMap(
      inTimeSlices(() => parseBytesInSteps(bytes), bytes.length > smallBytes),
      Effect.fromResult
    )
  )

type Incoming = Pick<IncomingRequest, "readBody" | "request">

/** The bytes of the request's body, at most `limit`, reserved in the body budget. */
export const read = (
  { readBody, request }: Incoming,
  limit: number,
  organisation?: OrganisationName
): Effect.Effect<Buffer, UnsupportedMediaType | BodyRefused> =>
  announcesJson(request.headers)
    ? readBody(limit, organisation)
    : Effect.fail(new UnsupportedMediaType({ takes: "json" }))
