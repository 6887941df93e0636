/** What a user of the supplier would be refused, so it is not shown, nor asked for. */
import type { ComponentChildren } from "preact"
import { useIsSupplier } from "../data/User.ts"

export const NotForSupplier = ({ children }: { readonly children: ComponentChildren }) =>
  useIsSupplier() ? null : <>{children}</>
