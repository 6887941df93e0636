/** A field in words, and its path in the payload. */
import { fieldInWords } from "@data-import/domain/accounts/FieldWords"

export const FieldName = ({ path }: { readonly path: string }) => (
  <>
    <span class="field-name">{fieldInWords(path)}</span> <code>{path}</code>
  </>
)
