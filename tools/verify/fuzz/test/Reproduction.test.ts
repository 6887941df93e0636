/**
 * The commands of a case send the same method, target, headers and body as the fuzzer. A stand-in
 * for the client records them.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type Case, get, post, type Request, type Step } from "../Case.ts"
import { anything } from "../Expectation.ts"
import { commandsOf } from "../Reproduction.ts"
import { bytesOf } from "../Wire.ts"

const path = "/v1/data-import/validate-account/"

const caseOf = (...steps: ReadonlyArray<Partial<Step> & { readonly request: Request }>): Case => ({
  operation: "validateAccount",
  kind: "valid",
  name: "a case",
  steps: steps.map((step) => ({ expect: anything, ...step }))
})

const commandOf = (request: Request): string => {
  const [command, ...more] = commandsOf(caseOf({ request }), "a-test")
  if (command === undefined || more.length > 0) throw new Error("one request is one command")
  return command
}

/** The arguments with which the shell would call the client. */
const argumentsOf = (command: string): ReadonlyArray<string> =>
  execFileSync("/bin/sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
    env: { DEMO: "the-token" },
    encoding: "utf8"
  })
    .split("\0")
    .slice(0, -1)

const after = (args: ReadonlyArray<string>, option: string): ReadonlyArray<string> =>
  args.flatMap((arg, index) => (args[index - 1] === option ? [arg] : []))

const hostile = `it's "$HOME" \`id\` $(id) \\ ; & | > # !\n%s`

describe("the command of a request", () => {
  it("sends the same request with the token of its user", () => {
    const args = argumentsOf(commandOf(get("/v1/data-import/limits/?a='$HOME'&b=%2e%2e")))
    expect(args).toContain("http://127.0.0.1:8080/v1/data-import/limits/?a='$HOME'&b=%2e%2e")
    expect(after(args, "-X")).toEqual(["GET"])
    expect(after(args, "-H")).toEqual(["authorization: Token the-token"])
    expect(args).toContain("--path-as-is")
  })

  it("sends no token where none was sent", () => {
    expect(after(argumentsOf(commandOf(get(path, "nobody"))), "-H")).toEqual([])
  })

  it("sends the same headers, and a body that the shell does not touch", () => {
    const request = post(path, hostile)
    const headers = [...request.headers, ["x-odd", "it's $HOME"] as const]
    const args = argumentsOf(commandOf({ ...request, headers }))
    expect(after(args, "--data-binary")).toEqual([hostile])
    expect(after(args, "-H")).toEqual([
      "authorization: Token the-token",
      "content-type: application/json",
      "x-odd: it's $HOME"
    ])
  })

  it.each([
    ["long", Buffer.from("x".repeat(2_001))],
    ["no text", Buffer.from([0, 255, 10, 39])],
    ["not of ASCII", Buffer.from("é")]
  ])("reads the body from a file where it is %s", (_, body) => {
    const [file = ""] = after(argumentsOf(commandOf(post(path, body))), "--data-binary")
    expect(file.startsWith("@")).toBe(true)
    expect(readFileSync(file.slice(1)).equals(body)).toBe(true)
  })

  it.each<readonly [string, Request]>([
    ["bytes that are no request", { ...get(path), raw: "GET\0/ HTTP/9\r\n\r\n" }],
    ["a body that does not come", { ...post(path, "{}"), framing: "stalled" }],
    ["a body that is only announced", { ...post(path, "{}"), framing: "announced" }],
    ["a malformed request", { ...get(path), malformed: true }],
    ["read slowly", { ...get(path), bytesPerRead: 7 }],
    ["all that the client sends", { ...post(path, "{}"), halfClosed: true }],
    ["sent in parts", { ...post(path, "{}"), split: true }],
    ["two requests in one", { ...get(path), smuggled: { attack: "CL.TE", request: get(path) } }],
    ["a header not of ASCII", { ...get(path), headers: [["x-odd", "é"]] }]
  ])("sends the bytes themselves where they are %s", (_, request) => {
    const tokenOf = (who: string) => `$${who.toUpperCase()}`
    const [, file = ""] = /^nc 127\.0\.0\.1 8080 < (\S+) /.exec(commandOf(request)) ?? []
    expect(readFileSync(file).equals(bytesOf(request, { port: 8080, tokenOf }))).toBe(true)
  })
})

describe("the commands of a case", () => {
  it("are its requests in order, and mark concurrent ones", () => {
    const commands = commandsOf(
      caseOf({ request: post(path, "1") }, { request: post(path, "2"), times: 3 }),
      "a-test"
    )
    expect(commands.map((command) => after(argumentsOf(command), "--data-binary"))).toEqual([
      ["1"],
      ["2"]
    ])
    expect(commands.map((command) => command.endsWith("# 3 times at once"))).toEqual([false, true])
  })
})
