/**
 * The renderer in Node writes what Go's templates write, byte for byte. Go's come with Debian's
 * packages golang-go, golang-github-masterminds-sprig-dev and golang-k8s-sigs-yaml-dev, which the
 * images of CI lack.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { render } from "../Chart.ts"
import { everything, name } from "./everything.ts"

const libraries = "/usr/share/gocode"
const isThere = ["/usr/bin/go", `${libraries}/src/github.com/Masterminds/sprig`].every(existsSync)

describe.skipIf(!isThere)("Go's templates (skipped where they are not installed)", () => {
  let folder = ""
  const chart = join(import.meta.dirname, "..", "..", "..", "docker", "helm")

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "data-import-chart-"))
    const source = join(import.meta.dirname, "..", "reference", "main.go")
    const env = { ...process.env, GO111MODULE: "off", GOPATH: libraries }
    execFileSync("/usr/bin/go", ["build", "-o", join(folder, "render"), source], { env })
  }, 300_000)

  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([
    ["default", {}],
    ["everything", everything]
  ])("write the same: %s", (_, values) => {
    const file = join(folder, "values.yaml")
    writeFileSync(file, JSON.stringify(values))
    const text = execFileSync(join(folder, "render"), [chart, name, file], { encoding: "utf8" })
    expect(text).toBe([...render({ name, values }).values()].join("---\n"))
  })
})
