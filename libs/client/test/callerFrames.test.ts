/** An error of the promise client shows where the program has called it. */
import { describe, expect, it } from "vitest"
import { DataImport } from "../src/PromiseClient.ts"

const client = new DataImport({
  baseUrl: "http://service.test",
  apiKey: "sk_test_0",
  retries: 0,
  fetch: () => Promise.reject(new TypeError("no network"))
})

const callLimits = async () => {
  await client.system.getLimits()
}

const readResults = async () => {
  for await (const _ of client.batches.results("0")) expect.fail("there is no result")
}

describe("the stack of an error", () => {
  it.each([callLimits, readResults])(
    "begins with the line that called the client: %o",
    async (call) => {
      const error = await call().then(
        () => null,
        (thrown: unknown) => thrown
      )
      const { stack = "" } = error as Error
      const [head, first] = stack.split("\n")
      expect(head).toBe(
        "ConnectionFailed: connection_failed: the connection failed before the end of the answer."
      )
      expect(first).toContain(`at ${call.name} (`)
      expect(first).toContain("callerFrames.test.ts")
    }
  )
})
