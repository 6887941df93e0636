/**
 * Builds the web part of the board into `dist`, which `services/board` serves below `/board/`.
 * Nothing is inlined, because the Content-Security-Policy allows neither inline scripts nor styles.
 */
import { defineConfig } from "vite"

export default defineConfig({
  base: "/board/",
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false
  }
})
