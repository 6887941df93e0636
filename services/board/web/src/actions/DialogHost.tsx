/**
 * Shows the dialog of an action outside of the page. The page updates after the action, so its
 * button may be gone, or be another one, before the outcome is read.
 */
import { type ComponentChildren, createContext } from "preact"
import { useCallback, useContext, useState } from "preact/hooks"

export type Dialog = (close: () => void) => ComponentChildren

const Opening = createContext<(dialog: Dialog) => void>(() => undefined)

/** Returns a function that opens a dialog. */
export const useDialog = () => useContext(Opening)

export const DialogHost = ({ children }: { readonly children: ComponentChildren }) => {
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const open = useCallback((opened: Dialog) => setDialog(() => opened), [])
  return (
    <Opening.Provider value={open}>
      {children}
      {dialog?.(() => setDialog(null))}
    </Opening.Provider>
  )
}
