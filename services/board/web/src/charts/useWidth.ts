/** The width of a chart in pixels, so that its text is drawn unscaled. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"

const assumed = 640

export const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(assumed)
  useLayoutEffect(() => {
    const box = ref.current
    if (box === null) return undefined
    const measure = () => setWidth(Math.max(240, Math.floor(box.clientWidth)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(box)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
