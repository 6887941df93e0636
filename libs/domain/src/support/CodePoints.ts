/** The order of texts by their code points, which is also that of their UTF-8 bytes. */

/** Moves surrogates, which stand for the highest code points, behind all other UTF-16 units. */
const rank = (unit: number): number => {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Compares well-formed texts; `<` would compare UTF-16 units. */
export const compareCodePoints = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (unit !== otherUnit) return rank(unit) - rank(otherUnit)
  }
  return one.length - other.length
}
