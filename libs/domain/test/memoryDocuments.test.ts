/** The contract of the document store, run on its memory layer. */
import { layerMemory } from "../testing/memory/Documents.ts"
import { documentFiles, documentsContract } from "../testing/DocumentsContract.ts"

const sizes = new Map([...documentFiles].map(([path, text]) => [path, Buffer.byteLength(text)]))

documentsContract("memory", layerMemory(sizes), null)
