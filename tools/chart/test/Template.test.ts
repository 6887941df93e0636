/** The part of Go's templates that the chart uses behaves as in Go. */
import { describe, expect, it } from "vitest"
import { execute, parse } from "../Template.ts"

const functions = {
  upper: (text: unknown) => String(text).toUpperCase(),
  join: (...args: ReadonlyArray<unknown>) => args.join("+")
}

const rendered = (source: string, dot: unknown = {}) =>
  execute(parse(source).main, { dot, variables: new Map([["$", dot]]) }, functions)

describe("a template", () => {
  it.each([
    ["a {{- 1 }} b", {}, "a1 b"],
    ["a {{ 1 -}} b", {}, "a 1b"],
    ["{{ .a.b }}", { a: { b: "x" } }, "x"],
    ["{{ .a | upper }}", { a: "x" }, "X"],
    ['{{ .a | join "b" "c" | upper }}', { a: "x" }, "B+C+X"],
    ['{{ join (upper .a) "b" }}', { a: "x" }, "X+b"],
    ["{{ if .a }}1{{ else if .b }}2{{ else }}3{{ end }}", { b: [0] }, "2"],
    ["{{ if .a }}1{{ else if .b }}2{{ else }}3{{ end }}", { a: {}, b: [] }, "3"],
    ["{{ with .a }}{{ . }}{{ $.b }}{{ end }}", { a: 1, b: 2 }, "12"],
    ["{{ with .a }}1{{ else }}2{{ end }}", { a: 0 }, "2"],
    ["{{ range .a }}{{ . }},{{ end }}", { a: [1, 2] }, "1,2,"],
    ["{{ range $k, $v := .a }}{{ $k }}={{ $v }} {{ end }}", { a: { z: 1, b: 2 } }, "b=2 z=1 "],
    ["{{ $x := .a }}{{ range .b }}{{ $x }}{{ end }}", { a: "x", b: [1, 2] }, "xx"]
  ])("%s", (source, dot, text) => {
    expect(rendered(source, dot)).toBe(text)
  })

  it.each([
    ["{{ lower .a }}", "lower is no function here"],
    ["{{ .a.b }}", "nothing has no .b"],
    ["{{ .a }}", "nothing would be written"],
    ["{{ . }}", "an object would be written"],
    ["{{ $x }}", "$x is not known"],
    ["{{ (upper .b }}", "a parenthesis is open"],
    ["{{ end }}", "ends nothing"],
    ["{{ if .b }}x", "{{ if }}: the end of the file in place of {{ end }}"],
    ["{{ with .b }}x{{ else with .c }}y{{ end }}", "{{ else with .c }} in place of {{ end }}"],
    ["{{ range .b }}x{{ else }}y{{ end }}", "{{ range }}: {{ else }} in place of {{ end }}"],
    ['{{ define "x" }}y', "{{ define }}: the end of the file"],
    ["{{ $x := .b }}{{ $x = 2 }}", "= is not known"],
    ["{{ 1000000 }}", "1000000 would be written as a float"]
  ])("%s is refused", (source, why) => {
    expect(() => rendered(source, { b: 1 })).toThrow(why)
  })
})
