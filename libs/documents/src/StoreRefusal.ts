/**
 * The meaning of a refusal by an S3 store. An answer to HEAD has no body, so it does not show
 * whether a 404 is about the object or the bucket, nor the reason of a 403: S3 answers 403 for a
 * missing object if the caller may not list the bucket. The same request with GET returns the code.
 *
 * A permanent refusal is a wrong configuration, which only the operator can fix. It is then unknown
 * whether the object exists. With a 503 clients would retry for ever and nobody would notice; a 400
 * would blame a path that may be right. So it is a defect: a 500 with the id of the request, and a
 * log entry that says what to change.
 */
import { S3ServiceException } from "@aws-sdk/client-s3"
import { Data, Effect } from "effect"

/** A wrong configuration of the store or of its settings. */
class DocumentStoreMisconfigured extends Data.TaggedError("DocumentStoreMisconfigured")<{
  /** The error code of S3. */
  readonly code: string
}> {}

const wrongPlace = "Set S3_REGION and S3_ENDPOINT to where the bucket is."

/** What the operator has to do, by the code of S3. */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied:
    "Grant s3:ListBucket on the bucket, without which a missing object is answered 403, and " +
    "s3:GetObject on its objects.",
  InvalidAccessKeyId: "Set the access key of a user that the store knows.",
  SignatureDoesNotMatch: "Set the secret that belongs to the access key.",
  CredentialsProviderError: "Set credentials where the standard AWS chain looks for them.",
  NoSuchBucket: "Set S3_BUCKET to the name of a bucket that is there.",
  PermanentRedirect: wrongPlace,
  TemporaryRedirect: wrongPlace,
  AuthorizationHeaderMalformed: wrongPlace
}

const otherRemedy = "Compare the settings S3_… and the credentials with the store."

/** Logs the refusal for the operator, and fails the request as a defect. */
export const misconfigured = (bucket: string, code: string): Effect.Effect<never> => {
  const logged = Effect.logError(
    `The document store is not usable: ${code}. ${remedies[code] ?? otherRemedy}`
  ).pipe(Effect.annotateLogs({ bucket }))
  return Effect.andThen(logged, Effect.die(new DocumentStoreMisconfigured({ code })))
}

/** Whether the failure is a lack of credentials. */
export const lacksCredentials = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === "CredentialsProviderError"

const passing: ReadonlySet<number> = new Set([408, 429])

/** The status of a refusal that would be repeated on a retry; null for any other failure. */
export const refusalStatus = (cause: unknown): number | null => {
  if (!(cause instanceof S3ServiceException)) return null
  const status = cause.$metadata.httpStatusCode ?? 0
  return status >= 300 && status < 500 && !passing.has(status) ? status : null
}

/** The code of a refusal that has a body. */
export const refusalCode = (cause: unknown): string =>
  cause instanceof S3ServiceException && /^[A-Za-z]{1,64}$/.test(cause.name)
    ? cause.name
    : "Unknown"
