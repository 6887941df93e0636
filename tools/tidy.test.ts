/**
 * Style rules that neither the formatter nor the linter can enforce. Each case collects every
 * violation, so that one run reports all.
 */
import { basename, dirname } from "node:path"
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { files, isTest, modules, read } from "./lint/workspaceFiles.ts"

const lineLimit = 100
const functionLimit = 70

const typescript = modules.filter((file) => /\.tsx?$/.test(file))
const source = typescript.filter((file) => !isTest(file))
const written = files.filter((file) =>
  /\.(tsx?|mjs|js|css|sql|ya?ml|sh)$|Dockerfile$|^\.ci\/run$/.test(file)
)

/** `file:line: text` of every line that the test calls wrong. */
const lines = (
  among: ReadonlyArray<string>,
  isWrong: (line: string) => boolean
): ReadonlyArray<string> =>
  among.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, index) => (isWrong(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []))
  )

const literal = /(["'`])(\\.|(?!\1).)*\1/g
const loneLiteral = /^\s*(["'`/]).*\1[a-z]*( \+|[,)]*)$/

/**
 * Whether the line is too long. Lines with long literals are excepted, because they cannot be
 * broken.
 */
const isLong = (line: string): boolean =>
  line.length > lineLimit &&
  !loneLiteral.test(line) &&
  ![...line.matchAll(literal)].some(
    ({ 0: text, index }) => index < lineLimit && index + text.length >= lineLimit
  )

const statement = /^\s*\/\/ ?\s*(const|let|import|export|return|yield\*?|await|if|for) .*[=({"]/
const callOrBrace = /^\s*\/\/ ?\s*([\w.]+\(.*\)|[{}])$/

const parsed = (file: string) => ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true)

const isCase = (node: ts.Node): boolean =>
  ts.isExpressionStatement(node) && /^(it|test|describe|layer)\b/.test(node.getText())

/** Whether the function is a test suite, whose cases are measured separately. */
const isSuite = (node: ts.SignatureDeclaration): boolean =>
  "body" in node && node.body !== undefined && ts.isBlock(node.body)
    ? node.body.statements.some(isCase)
    : false

const longFunctions = (file: string): ReadonlyArray<string> => {
  const tree = parsed(file)
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !isSuite(node)) {
      const length = lineOf(node.end) - lineOf(node.getStart()) + 1
      if (length > functionLimit) found.push(`${file}:${lineOf(node.getStart())}: ${length} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** Other teams import the package by its name, so its root entry exports what other files have. */
const rootEntry = "libs/domain/src/index.ts"

const isBarrel = (file: string): boolean => {
  const { statements } = parsed(file)
  return (
    statements.length > 0 &&
    statements.every((it) => ts.isExportDeclaration(it) && it.moduleSpecifier !== undefined)
  )
}

const vague = new Set(
  "util utils common shared core helper helpers type types misc index lib impl live".split(" ")
)

const isVague = (name: string): boolean =>
  vague.has(name.toLowerCase()) || /(Utils?|Helpers?|Common|Live|Impl)$/.test(name)

describe("tidy", { timeout: 120_000 }, () => {
  it("finds files to check", () => {
    expect(source.length).toBeGreaterThan(20)
    expect(written).toContain("libs/domain/src/codes/Code.ts")
  })

  it(`keeps lines to ${lineLimit} characters`, () => {
    expect(lines(written, isLong)).toEqual([])
  })

  it(`keeps functions to ${functionLimit} lines, in tests too`, () => {
    expect(typescript.flatMap(longFunctions)).toEqual([])
  })

  it("opens every module with a docblock that says what it is", () => {
    const opensWell = (file: string) => /^(#!.*\n)?\/\*\*\n? \*? ?[^]{30,}?\*\//.test(read(file))
    expect(source.filter((file) => !opensWell(file))).toEqual([])
  })

  it("has no banner comments", () => {
    const isBanner = (line: string) => /^\s*(\/\/|\/?\*+|--|#)\s*([-=*#_~])\2{3,}/.test(line)
    expect(lines(written, isBanner)).toEqual([])
  })

  it("has no commented-out code", () => {
    expect(lines(modules, (line) => statement.test(line) || callOrBrace.test(line))).toEqual([])
  })

  it("has no postponed work", () => {
    const words = ["TO" + "DO", "FIX" + "ME"].join("|")
    const prose = files.filter((file) => file.endsWith(".md"))
    const isPutOff = (line: string) => new RegExp(`\\b(${words})\\b`).test(line)
    expect(lines([...written, ...prose], isPutOff)).toEqual([])
  })

  it("names files and folders after their content", () => {
    const parts = (file: string) => [
      ...dirname(file).split("/").slice(1),
      basename(file).replace(/(\.test)?\.\w+$/, "")
    ]
    expect(typescript.filter((file) => file !== rootEntry && parts(file).some(isVague))).toEqual([])
  })

  it("has no barrel file but the root entry of the published package", () => {
    expect(source.filter(isBarrel)).toEqual([rootEntry])
  })

  it("names layers after what they are made of", () => {
    const isVagueLayer = (line: string) =>
      /\b(class|const) ([A-Z]\w*|layer)(Live|Impl)\b/.test(line)
    expect(lines(typescript, isVagueLayer)).toEqual([])
  })

  it("runs every test", () => {
    const tests = typescript.filter(isTest)
    expect(lines(tests, (line) => /\.(only|skip|todo|fails)\(/.test(line))).toEqual([])
  })

  it("gives a reason wherever it switches the linter off", () => {
    const isSilent = (line: string) => /(es|ox)lint-disable(?!.* -- \w)/.test(line)
    const here = "tools/tidy.test.ts"
    expect(
      lines(
        modules.filter((file) => file !== here),
        isSilent
      )
    ).toEqual([])
  })
})
