/** What is published below `/docs`: the guide, the contract and the reference, as browsers get it. */
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, matchesGlob } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { registry } from "@data-import/domain/codes/Code"
import { request } from "@data-import/server/testing/RawClient"
import { Effect } from "effect"
import { gateway } from "./gatewayService.ts"

const root = join(import.meta.dirname, "../../..")

const get = Effect.fnUntraced(function* (path: string, headers: Record<string, string> = {}) {
  const port = yield* gateway("http://127.0.0.1:1")
  return yield* request(port, { path, headers })
})

const linksOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/\b(?:href|src)="([^"]+)"/g)].map(([, target = ""]) =>
    target.replaceAll("&amp;", "&")
  )

const isOwn = (target: string) => /^[/#]/.test(target)

/** All pages that can be reached from `/docs`, by their paths. */
const pages = Effect.gen(function* () {
  const port = yield* gateway("http://127.0.0.1:1")
  const found = new Map<string, string>()
  const open = ["/docs"]
  for (const path of open) {
    if (found.has(path)) continue
    const { body, headers, status } = yield* request(port, { path })
    expect([path, status]).toEqual([path, 200])
    found.set(path, body)
    if (headers["content-type"]?.startsWith("text/html") !== true) continue
    open.push(
      ...linksOf(body)
        .filter(isOwn)
        .map((target) => target.split("#")[0] as string)
        .filter((target) => target !== "")
    )
  }
  return found
})

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id = ""]) => id))

describe("the pages", () => {
  it.live("are the guide and the contract, except documents for operators only", () =>
    Effect.gen(function* () {
      const found = yield* pages
      const names = (folder: string) =>
        readdirSync(join(root, folder)).map((file) => file.replace(/\.md$/, ""))
      const guide = names("docs/guide").map((name) =>
        name === "overview" ? "/docs" : `/docs/${name}`
      )
      const contract = names("docs/contract")
        .filter((name) => !["board", "codes", "operator", "local-run"].includes(name))
        .map((name) => (name === "README" ? "/docs/contract" : `/docs/contract/${name}`))
      const shown = [...found.keys()].filter((path) => !path.startsWith("/docs/assets/"))
      expect(shown.toSorted()).toEqual(
        [...guide, ...contract, "/docs/reference", "/docs/search", "/openapi.json"].toSorted()
      )
    })
  )

  it.live("link to pages and headings that exist", () =>
    Effect.gen(function* () {
      const found = yield* pages
      const broken = [...found].flatMap(([path, html]) =>
        linksOf(html)
          .filter(isOwn)
          .filter((target) => {
            const [to = "", anchor] = target.split("#")
            const page = found.get(to === "" ? path : to)
            // Scalar makes the anchors of the reference.
            if (to === "/docs/reference") return false
            return page === undefined || (anchor !== undefined && !idsOf(page).has(anchor))
          })
          .map((target) => `${path}: ${target}`)
      )
      expect(broken).toEqual([])
    })
  )

  it.live("have one title, and no anchor twice", () =>
    Effect.gen(function* () {
      for (const [path, html] of yield* pages) {
        if (!html.startsWith("<!doctype html>") || path === "/docs/reference") continue
        expect(html.match(/<h1\b/g), path).toHaveLength(1)
        const ids = [...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id)
        expect(
          ids.filter((id, index) => ids.indexOf(id) !== index),
          path
        ).toEqual([])
        expect(html, path).toMatch(/<meta name="description" content="[^"]{20,}">/)
      }
    })
  )

  it.live("have an anchor for every code", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/docs/errors")
      const ids = idsOf(body)
      expect(Object.keys(registry).filter((code) => !ids.has(code))).toEqual([])
      for (const { remedy } of Object.values(registry).slice(0, 5)) {
        expect(body).toContain(`What to do: ${remedy.split(/[`"'&<]/)[0]}`)
      }
    })
  )

  it.live("show the changelog", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/docs/versions")
      expect(body).toMatch(/<h3 id="010-2026-11-28">/)
    })
  )
})

describe("policies", () => {
  it.live("forbid scripts on pages, and everything from elsewhere", () =>
    Effect.gen(function* () {
      for (const path of ["/docs", "/docs/errors", "/docs/contract/http", "/docs/x"]) {
        const { headers } = yield* get(path)
        expect(headers["content-security-policy"], path).toBe(
          "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
            "form-action 'none'; frame-ancestors 'none'"
        )
      }
      for (const [path, html] of yield* pages) {
        if (!html.startsWith("<!doctype html>") || path === "/docs/reference") continue
        const own = path === "/docs/search" ? /<script[^>]* src="\/docs\/assets\/[^>]*>/ : /$^/
        expect(html.replace(own, ""), path).not.toMatch(/<script|<[^>]+\s(?:style|on[a-z]+)=/)
      }
    })
  )

  it.live("let the search run its own script, and ask no server", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/docs/search")
      const policy = headers["content-security-policy"] ?? ""
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ")
      expect(policy).not.toMatch(/connect-src|unsafe|https?:|\*/)
    })
  )

  it.live("let the reference run its own scripts only", () =>
    Effect.gen(function* () {
      const { body, headers } = yield* get("/docs/reference")
      const policy = headers["content-security-policy"] ?? ""
      expect(policy).toContain("default-src 'none'; script-src 'self'; ")
      expect(policy).toContain("connect-src 'self'; ")
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
      expect(body).not.toMatch(/<script(?![^>]* src="\/docs\/assets\/)/)
      expect(linksOf(body).filter((target) => !isOwn(target))).toEqual(["data:,"])
    })
  )
})

describe("the search", () => {
  it.live("has every section with its text, for a reader without scripts too", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/docs/search")
      const targets = new Set(linksOf(body))
      expect(targets).toContain("/docs/book#signs")
      expect(targets).toContain("/docs/errors#invalid_phone_number")
      expect(body).toMatch(/<a href="\/docs\/afterwards#a-customer-[^"]*">[^<]*<\/a><p>[^<]*erase/)
      for (const [path, html] of yield* pages) {
        if (!html.includes('<main id="content">') || path === "/docs/search") continue
        for (const id of html.match(/(?<=<h[2-6] id=")[^"]+/g) ?? []) {
          expect(targets.has(`${path}#${id}`), `${path}#${id}`).toBe(true)
        }
      }
    })
  )
})

describe("the reference", () => {
  it.live("shows the published document", () =>
    Effect.gen(function* () {
      const found = yield* pages
      const script = [...found].find(([path]) => path.startsWith("/docs/assets/reference."))?.[1]
      expect(script).toContain('"url":"/openapi.json"')
    })
  )
})

describe("what is published", () => {
  it.live("is compressed for clients that accept it", () =>
    Effect.gen(function* () {
      const plain = yield* get("/docs/errors")
      expect(plain.headers["content-encoding"]).toBeUndefined()
      expect(plain.headers["vary"]).toBe("Accept-Encoding")
      for (const accepted of ["gzip", "br, GZIP;q=0.5", "x-gzip;q=1.0"]) {
        const packed = yield* get("/docs/errors", { "accept-encoding": accepted })
        expect(packed.headers["content-encoding"], accepted).toBe("gzip")
        expect(packed.headers["etag"]).not.toBe(plain.headers["etag"])
        expect(Number(packed.headers["content-length"])).toBeLessThan(plain.body.length / 3)
      }
      for (const refused of ["br", "gzip;q=0", "gzip;q=0.000", "identity"]) {
        const { headers } = yield* get("/docs/errors", { "accept-encoding": refused })
        expect(headers["content-encoding"], refused).toBeUndefined()
      }
    })
  )

  it.live("is answered with 304 for clients that have it", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/docs")
      const etag = headers["etag"] ?? ""
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const answer = yield* get("/docs", { "if-none-match": known })
        expect([answer.status, answer.body, answer.headers["etag"]], known).toEqual([304, "", etag])
        expect(answer.headers["cache-control"]).toBe("public, max-age=300")
      }
      expect((yield* get("/docs", { "if-none-match": '"x"' })).status).toBe(200)
    })
  )

  it.live("may be cached for ever if its path has its hash", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/docs/reference")
      const assets = linksOf(body).filter((target) => target.startsWith("/docs/assets/"))
      expect(assets.map((path) => path.replace(/\.[0-9a-f]{16}\./, "."))).toEqual([
        "/docs/assets/guide.css",
        "/docs/assets/scalar.js",
        "/docs/assets/reference.js"
      ])
      for (const path of assets) {
        const { headers, status } = yield* get(path)
        expect([status, headers["cache-control"]], path).toEqual([
          200,
          "public, max-age=31536000, immutable"
        ])
        expect(headers["content-type"], path).toBe(
          `text/${path.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`
        )
      }
    })
  )

  it.live("has a page for unknown paths", () =>
    Effect.gen(function* () {
      for (const path of ["/docs/nothing", "/docs/contract/operator", "/docs/assets/guide.css"]) {
        const { body, headers, status } = yield* get(path, { "if-none-match": "*" })
        expect([status, headers["content-type"]], path).toEqual([404, "text/html; charset=utf-8"])
        expect(body).toContain("There is no such page")
      }
      const deeper = yield* get("/docs/a/b/c")
      expect([deeper.status, deeper.headers["content-type"]]).toEqual([404, "application/json"])
    })
  )
})

/** Whether the context of an image contains a file: the last matching pattern decides. */
const isInContext = (file: string): boolean => {
  const patterns = readFileSync(join(root, "docker/Dockerfile.dockerignore"), "utf8")
  const parts = file.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"))
  return patterns
    .split("\n")
    .filter((line) => line !== "")
    .reduce((isIn, line) => {
      const pattern = line.replace(/^!/, "")
      return parts.some((part) => matchesGlob(part, pattern)) ? line.startsWith("!") : isIn
    }, true)
}

describe("an image of the gateway", () => {
  it("contains everything that is published", () => {
    const image = mkdtempSync(join(tmpdir(), "data-import-image-"))
    try {
      const copy = ["docker/copySources.mjs", "services/gateway", image]
      execFileSync(process.execPath, copy, { cwd: root })
      symlinkSync(join(root, "node_modules"), join(image, "node_modules"))
      const copied = globSync("{docs/**/*.md,*.md,services/gateway/assets/*}", { cwd: image })
      expect(new Set(copied.map(dirname))).toEqual(
        new Set([".", "docs/guide", "docs/contract", "services/gateway/assets"])
      )
      expect(copied.filter((file) => !isInContext(file))).toEqual([])
      const documentation = join(image, "services/gateway/src/Documentation.ts")
      const counted =
        'import { Effect } from "effect";' +
        `const { routes } = await import(${JSON.stringify(documentation)});` +
        "console.log(String((await Effect.runPromise(routes)).length))"
      const args = ["--input-type=module", "--eval", counted]
      const count = execFileSync(process.execPath, args, { cwd: image, encoding: "utf8" })
      expect(Number(count)).toBeGreaterThan(20)
    } finally {
      rmSync(image, { recursive: true })
    }
  })
})
