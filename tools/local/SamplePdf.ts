/** A small valid PDF file of one page, which stands for a supplier's document. */

const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"

/** Letters, digits and common punctuation of ASCII; the rest becomes a question mark. */
const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, "?").replace(/[\\()]/g, (character) => `\\${character}`)

/** The file with `text` on its page, as ASCII. */
export const samplePdf = (text: string): string => {
  const drawing = `BT /F1 18 Tf 72 760 Td (${escaped(text)}) Tj ET`
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `${page} /Resources << /Font << /F1 5 0 R >> >> >>`,
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
  ]
  let file = "%PDF-1.4\n"
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>`
  return `${file}${table}${trailer}\nstartxref\n${file.length}\n%%EOF\n`
}
