/** The entry of the board's web part. */
import { render } from "preact"
import { App } from "./App.tsx"
import "../styles/board.css"
import "../styles/print.css"

const root = document.getElementById("board")
if (root !== null) render(<App />, root)
