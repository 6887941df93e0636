/**
 * The whole system on a misconfigured document store: the client is not asked to retry, and the log
 * names the missing permission.
 */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "@data-import/server/testing/RawClient"
import { until } from "@data-import/server/testing/RunningService"
import { freshSupplier, minimalAccount } from "@data-import/domain/testing/freshNames"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

/** As S3 answers for an object that is not there, where the caller may not list the bucket. */
const forbidding = {
  ...healthyWorld(),
  store: ((incoming, response) => {
    const xml = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    response.writeHead(403, { "content-type": "application/xml" })
    response.end(incoming.method === "HEAD" ? undefined : xml)
  }) satisfies ReturnType<typeof healthyWorld>["store"]
}

layer(wholeSystem(forbidding), { excludeTestServices: true, timeout: "1 minute" })(
  "a request whose documents the store forbids to look up",
  (it) => {
    describe("is answered", () => {
      it.effect("500 with its id, and the log names the missing permission", () =>
        Effect.gen(function* () {
          const { gatewayUrl, log } = yield* WholeSystem
          const { caller, keyOf } = yield* freshSupplier
          const note = { body: "a letter", document_paths: [{ document_path: "letter.pdf" }] }
          const payload = { ...minimalAccount(keyOf("1")), notes: [note] }
          const reply = yield* request(Number(new URL(gatewayUrl).port), {
            method: "POST",
            path: "/v1/data-import/validate-account/",
            headers: {
              authorization: `Token ${yield* tokenFor(caller.organisation)}`,
              "content-type": "application/json",
              "x-request-id": "forbidden-letter"
            },
            body: JSON.stringify({ payload })
          })
          expect(reply.status).toBe(500)
          expect(reply.json()).toMatchObject({ code: "error", request_id: "forbidden-letter" })
          expect(reply.headers["retry-after"]).toBeUndefined()
          const lines = Effect.sync(() =>
            log
              .join("")
              .split("\n")
              .filter((line) => line.includes("Grant s3:ListBucket"))
          )
          const [line = ""] = yield* until(lines, (found) => found.length > 0)
          expect(JSON.parse(line)).toMatchObject({
            level: "ERROR",
            service: "account-import",
            request_id: "forbidden-letter",
            bucket: "bucket"
          })
          expect(line).not.toContain("letter.pdf")
        })
      )
    })
  }
)
