/** The thread that makes one sheet from its rows, of which the first is the head. */
import { parentPort, workerData } from "node:worker_threads"
import writeSheet from "write-excel-file/node"
import type { CorrectionRow } from "@data-import/domain/board/CorrectionFile"

const widths = [24, 12, 8, 34, 48, 48, 36, 34, 28]

/** Characters that XML cannot hold. */
const unprintable = /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]/gu

const cellOf = (value: CorrectionRow[number]) =>
  typeof value === "string" ? value.replaceAll(unprintable, "\ufffd") : value

const [head = [], ...rows] = workerData as ReadonlyArray<CorrectionRow>

const bytes = await writeSheet(
  [
    head.map((value) => ({ value: String(value), fontWeight: "bold" as const })),
    ...rows.map((row) => row.map(cellOf))
  ],
  { sheet: "Corrections", columns: widths.map((width) => ({ width })), stickyRowsCount: 1 }
).toBuffer()

parentPort?.postMessage(bytes)
