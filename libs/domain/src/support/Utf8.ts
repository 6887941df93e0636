/** The size of texts as they are sent and stored. */

const encoder = new TextEncoder()

/** The bytes of the text in UTF-8. */
export const byteLength = (text: string): number => encoder.encode(text).length
