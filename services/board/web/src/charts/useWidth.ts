/** The width of a chart in pixels, so that its text is drawn unscaled. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"

const assumed = 640

/** A4 within the margins of `print.css`. Its layout comes too late to be measured. */
const ofPaper = 703

export const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(assumed)
  useLayoutEffect(() => {
    const box = ref.current
    if (box === null) return undefined
    const measure = () => setWidth(Math.max(240, Math.floor(box.clientWidth)))
    const fitPaper = () => setWidth(ofPaper)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(box)
    addEventListener("beforeprint", fitPaper)
    addEventListener("afterprint", measure)
    return () => {
      observer.disconnect()
      removeEventListener("beforeprint", fitPaper)
      removeEventListener("afterprint", measure)
    }
  }, [])
  return { ref, width }
}
