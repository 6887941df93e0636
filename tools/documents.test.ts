/**
 * Documents, and comments that cite them: every relative link and every anchor resolves. Anchors
 * are those that GitHub makes from headings.
 */
import { dirname, posix } from "node:path"
import { registry } from "@data-import/domain/codes/Code"
import { describe, expect, it } from "vitest"
import { files, modules, packages, read } from "./lint/workspaceFiles.ts"

const documents = files.filter((file) => file.endsWith(".md"))
const present = new Set(files)
const folders = new Set(
  files.flatMap((file) => {
    const parts = dirname(file).split("/")
    return parts.map((_, index) => parts.slice(0, index + 1).join("/"))
  })
)

/** Text without code, in which brackets and `#` mean something else. */
const prose = (text: string): string =>
  text
    .replaceAll(/^( *)```[^]*?^\1```$/gm, "")
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll(/[[\]()]/g, ""))

const slug = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

/** The anchors of a document. A heading that repeats gets a number. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  const found = [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
    const name = slug(heading)
    const earlier = counts.get(name) ?? 0
    counts.set(name, earlier + 1)
    return earlier === 0 ? name : `${name}-${earlier}`
  })
  return new Set(found)
}

const anchors = new Map(documents.map((file) => [file, anchorsOf(read(file))]))

const resolves = (target: string): boolean => {
  const [path = "", anchor] = target.split("#")
  if (anchor !== undefined) return anchors.get(path)?.has(anchor) ?? false
  return present.has(path) || folders.has(path.replace(/\/$/, ""))
}

const link = /\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm

/** `file: target` of every broken link. External addresses are not checked. */
const brokenLinks = (file: string): ReadonlyArray<string> =>
  [...prose(read(file)).matchAll(link)]
    .map(([, inline, reference]) => inline ?? reference ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#")
      const found = path === "" ? file : posix.join(dirname(file), path)
      return !resolves(anchor === undefined ? found : `${found}#${anchor}`)
    })
    .map((target) => `${file}: ${target}`)

/** A path of the repository as a document writes it, a `*` standing for one name. */
const codePath = /`((?:libs|services|tools|docs|docker|\.ci|\.github)\/[\w./*-]+)`/g

const exists = (path: string): boolean => {
  const name = path.replace(/\/$/, "")
  const pattern = RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", "[^/]+")}$`)
  return [...present, ...folders].some((it) => pattern.test(it))
}

const citation = /docs\/[\w./-]+\.md(?:#[\w-]+)?/g
const written = [...modules, ...files.filter((file) => file.endsWith(".sql"))]

describe("documents", () => {
  it("finds documents, anchors and citations", () => {
    expect(anchors.get("docs/contract/http.md")).toContain("idempotency-keys")
    expect(written.filter((file) => read(file).search(citation) >= 0).length).toBeGreaterThan(50)
  })

  it("have links that resolve", () => {
    expect(documents.flatMap(brokenLinks)).toEqual([])
  })

  it("name every code in the contract", () => {
    const contract = documents.filter((file) => file.startsWith("docs/contract/")).map(read)
    const missing = Object.keys(registry).filter(
      (code) => !contract.some((text) => text.includes(`\`${code}\``))
    )
    expect(missing).toEqual([])
  })

  it("have tables that name each column, for those who hear them", () => {
    const unnamed = documents.filter((file) => /^\|(?:.*\|)? *\|.*\n\|[ :|-]+$/m.test(read(file)))
    expect(unnamed).toEqual([])
  })

  it("introduce every package", () => {
    const missing = packages.filter(({ folder }) => !present.has(posix.join(folder, "README.md")))
    expect(missing.map(({ folder }) => folder)).toEqual([])
  })

  it("name paths that exist", () => {
    const broken = documents.flatMap((file) =>
      [...read(file).matchAll(codePath)]
        .filter(([, path = ""]) => !exists(path))
        .map(([, path]) => `${file}: ${path}`)
    )
    expect(broken).toEqual([])
  })

  it("are cited by paths and anchors that exist", () => {
    const broken = written.flatMap((file) =>
      [...read(file).matchAll(citation)]
        .filter(([target]) => !resolves(target))
        .map(([target]) => `${file}: ${target}`)
    )
    expect(broken).toEqual([])
  })

  it("are cited by nothing but a path, where a comment names the contract as its source", () => {
    const old = /Source:[^.]*\b(decisions|specification|rules)\b[,;]/
    expect(modules.filter((file) => old.test(read(file).replaceAll(/\n *\* ?/g, " ")))).toEqual([])
  })
})
