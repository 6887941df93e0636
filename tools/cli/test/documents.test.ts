/** The files of a folder are put into a store that verifies them and replaces none. */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { collected, wholeSystem, type World } from "@data-import/local/test/wholeSystem"
import { openLog } from "../documents/UploadLog.ts"
import { folder } from "./commandLine.ts"
import { environmentOf, user } from "./onlineCommand.ts"

const stored = new Map<string, string>()
const puts: Array<string> = []

/** As an object store does: 400 for other bytes than those of the checksum, 412 for a path that exists. */
const store: World["store"] = (incoming, response) => {
  const path = decodeURIComponent(new URL(incoming.url ?? "", "http://store").pathname)
  void collected(incoming).then((body) => {
    const there = stored.get(path)
    if (incoming.method === "HEAD" && there !== undefined) {
      const hash = createHash("sha256").update(there).digest("base64")
      const isTold = !path.endsWith("untold.pdf")
      const told = isTold ? { "x-amz-checksum-sha256": hash } : {}
      return response.writeHead(200, { "content-length": Buffer.byteLength(there), ...told }).end()
    }
    if (incoming.method !== "PUT") return response.writeHead(404).end()
    puts.push(path)
    const sha256 = createHash("sha256").update(body).digest("base64")
    if (incoming.headers["x-amz-checksum-sha256"] !== sha256) return response.writeHead(400).end()
    if (stored.has(path)) return response.writeHead(412).end()
    stored.set(path, body)
    return response.writeHead(200).end()
  })
}

const putsOf = (supplier: string) => puts.filter((path) => path.includes(`/${supplier}/`))

const arrange = Effect.gen(function* () {
  const tenant = yield* clientTenant()
  const { home, run } = yield* user(environmentOf(tenant))
  const write = (name: string, content: string) => {
    mkdirSync(dirname(home.path(`documents/${name}`)), { recursive: true })
    home.write(`documents/${name}`, content)
  }
  const upload = (...flags: ReadonlyArray<string>) =>
    run("documents", "upload", home.path("documents"), "--supplier", tenant.supplier, ...flags)
  return { home, run, supplier: tenant.supplier, upload, write }
})

layer(wholeSystem({ ...healthyWorld(), store }), {
  excludeTestServices: true,
  timeout: "1 minute"
})("data-import documents upload", (it) => {
  it.effect("uploads every file once, and continues with the missing ones", () =>
    Effect.gen(function* () {
      const { home, supplier, upload, write } = yield* arrange
      for (const name of ["a.pdf", "2024/b c.pdf", "2024/deep/ä.pdf", ".DS_Store"])
        write(name, name)
      symlinkSync("/etc/passwd", home.path("documents/link.pdf"))
      const first = yield* upload("--prefix", "statements/")
      expect(first).toMatchObject({ status: 0, err: "" })
      expect(first.out).toMatch(
        /3 files = 3 uploaded \+ 0 same \+ 0 uploaded before \+ 0 existed \+ 0 failed/
      )
      const paths = putsOf(supplier).map((path) => path.split(`/${supplier}/`)[1])
      expect(paths.toSorted()).toEqual(
        ["2024/b c.pdf", "2024/deep/ä.pdf", "a.pdf"].map((path) => `statements/${path}`)
      )
      write("new.pdf", "new")
      const second = yield* upload("--prefix", "statements", "--json")
      expect(JSON.parse(second.out)).toMatchObject({ files: 4, uploaded: 1, same: 3 })
      expect(putsOf(supplier)).toHaveLength(4)
      const [log = ""] = readdirSync(home.path("state/data-import/documents"))
      expect(home.read(`state/data-import/documents/${log}`)).not.toMatch(/sk_|http/)
    }).pipe(Effect.scoped)
  )

  it.effect("compares files with what is stored, not with what it remembers", () =>
    Effect.gen(function* () {
      const { supplier, upload, write } = yield* arrange
      for (const name of ["gone.pdf", "same.pdf", "other.pdf", "untold.pdf"]) write(name, "one")
      expect((yield* upload()).status).toBe(0)
      const [root = ""] = putsOf(supplier).map((path) => path.replace(/[^/]+$/, ""))
      stored.delete(`${root}gone.pdf`)
      write("other.pdf", "two")
      const verified = yield* upload("--verify")
      expect(verified.status).toBe(1)
      expect(verified.out).toMatch(
        /4 files = 0 uploaded \+ 1 same \+ 1 uploaded before \+ 0 existed/
      )
      expect(verified.out).toMatch(/gone\.pdf +path_does_not_exist_in_file_store/)
      expect(verified.out).toMatch(/other\.pdf +document_differs +The store has another file/)
      const again = yield* upload()
      expect(again.status).toBe(1)
      expect(again.out).toMatch(
        /1 uploaded \+ 1 same \+ 1 uploaded before \+ 0 existed \+ 1 failed/
      )
      expect(putsOf(supplier)).toHaveLength(5)
    }).pipe(Effect.scoped)
  )

  it.effect("continues after refused files, and names them", () =>
    Effect.gen(function* () {
      const { upload, write } = yield* arrange
      write("empty.pdf", "")
      write("back\\slash.pdf", "bad name")
      write("good.pdf", "good")
      const { out, status } = yield* upload("--json")
      expect(status).toBe(1)
      expect(JSON.parse(out)).toMatchObject({
        uploaded: 1,
        failed: 2,
        failures: [
          { document_path: "back\\slash.pdf", code: "invalid_document_path" },
          { document_path: "empty.pdf", code: "min_value" }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.effect("reports a file that cannot be read, and continues with the others", () =>
    Effect.gen(function* () {
      const { home, upload, write } = yield* arrange
      write("good.pdf", "good")
      const documents = Buffer.from(`${home.path("documents")}/`)
      writeFileSync(
        Buffer.concat([documents, Buffer.from([0xff, 0x2e, 0x70])]),
        "no UTF-8 in its name"
      )
      const { out, status } = yield* upload("--json")
      expect(status).toBe(1)
      expect(JSON.parse(out)).toMatchObject({ uploaded: 1, failures: [{ code: "unreadable" }] })
    }).pipe(Effect.scoped)
  )

  it.effect("keeps a record for each API key, because their stores differ", () =>
    Effect.gen(function* () {
      const { path } = yield* folder
      const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_STATE_HOME: path("s") }))
      const logOf = (key: string) =>
        openLog({ baseUrl: "http://127.0.0.1:1", apiKey: Redacted.make(key) }, "ACME").pipe(
          Effect.provide([NodeServices.layer, config])
        )
      yield* (yield* logOf("sk_test_0")).add("a.pdf", "0a")
      expect((yield* logOf("sk_test_0")).sha256Of("a.pdf")).toBe("0a")
      expect((yield* logOf("sk_live_0")).sha256Of("a.pdf")).toBe(undefined)
    }).pipe(Effect.scoped)
  )

  it.effect("does not count an existing document as its own upload", () =>
    Effect.gen(function* () {
      const { supplier, upload, write } = yield* arrange
      write("a.pdf", "one")
      write("untold.pdf", "one")
      expect((yield* upload("--prefix", "probe")).status).toBe(0)
      const root = putsOf(supplier)[0]?.replace(/probe.*$/, "") ?? ""
      for (const name of ["a.pdf", "untold.pdf"]) stored.set(`${root}${name}`, "two")
      const { out, status } = yield* upload()
      expect(status).toBe(1)
      expect(out).toMatch(/0 uploaded before \+ 1 existed \+ 1 failed[^]*may be others/)
      expect(out).toMatch(/a\.pdf +document_differs/)
    }).pipe(Effect.scoped)
  )

  it.effect("fails at once for an error that concerns every file", () =>
    Effect.gen(function* () {
      const { home, run, upload, write } = yield* arrange
      write("a.pdf", "one")
      const elsewhere = [home.path("documents"), "--supplier", "NOWHERE"]
      const { err, status } = yield* run("documents", "upload", ...elsewhere)
      expect(status).toBe(2)
      expect(err).toMatch(/import_supplier/)
      const absolute = yield* upload("--prefix", "/absolute")
      expect(absolute).toMatchObject({ status: 2, err: expect.stringMatching(/a folder like/) })
    }).pipe(Effect.scoped)
  )
})
