/** Issues a certificate under an id that is the same in every run. */
import { Database } from "@data-import/postgres/connection/Database"
import { Data, Duration, Effect, Schedule } from "effect"

/** Of the accounts of the demo tenant's supplier. */
export const fixedCertificate = "0f0f0f0f-0000-4000-8000-0000000000c1"

class CertificateSetUpFailed extends Data.TaggedError("CertificateSetUpFailed")<{
  readonly message: string
}> {}

const untilIssued = { schedule: Schedule.spaced(Duration.millis(100)), times: 300 }

/** Requests it as a handler does, and waits for the worker. */
export const holdCertificate = Effect.fnUntraced(function* (
  organisation: string,
  supplier: string
) {
  const { run, sql } = yield* Database
  const issuer = JSON.stringify({ organisation, role: "client", id: "key_fuzz" })
  yield* run(sql`
    insert into certificates (id, organisation, supplier, issued_by, requested_at)
    values (${fixedCertificate}::uuid, ${organisation}, ${supplier}, ${issuer}, now())`)
  const issued = run(sql`
    select from certificates where id = ${fixedCertificate}::uuid and status = 'ISSUED'`)
  const missing = new CertificateSetUpFailed({ message: "The fixed certificate is not issued" })
  yield* Effect.retry(
    Effect.flatMap(issued, ({ length }) => (length > 0 ? Effect.void : Effect.fail(missing))),
    untilIssued
  )
})
