/** Prints the chart as Helm would: `node tools/chart/main.ts [release] [values.yaml]`. */
import { readFileSync } from "node:fs"
import { render, valuesOf } from "./Chart.ts"

const [name = "data-import", file] = process.argv.slice(2)
const values = file === undefined ? {} : valuesOf(readFileSync(file, "utf8"))
process.stdout.write([...render({ name, values }).values()].join("---\n"))
